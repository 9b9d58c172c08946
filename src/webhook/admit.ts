import type { Socket } from 'node:net';
import { NotStoredError } from '../inbox/group-commit.js';
import type { Outcome, Post } from './posts.js';

type Accept = (post: Post) => Promise<Outcome>;

/** A sender that does not wait for its answers (pipelining) has no more under way than this. */
const MAX_PER_CONNECTION = 32;
/** 512 of the largest posts, or many thousands of usual ones. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Nothing is known of a post yet, and it costs memory until it has been verified:
 * a few connections full of forged ones must neither fill that nor leave no room for others.
 */
export function createAdmit(accept: Accept): (socket: Socket, post: Post) => Promise<Outcome> {
  const underWay = new WeakMap<Socket, number>();
  let bytes = 0;

  return async (socket, post) => {
    const posts = underWay.get(socket) ?? 0;
    const { length } = post.body;
    if (posts >= MAX_PER_CONNECTION || bytes + length > MAX_BYTES) {
      throw new NotStoredError('too_many_waiting', 'too many posts are under way');
    }
    underWay.set(socket, posts + 1);
    bytes += length;
    try {
      return await accept(post);
    } finally {
      underWay.set(socket, (underWay.get(socket) ?? 1) - 1);
      bytes -= length;
    }
  };
}
