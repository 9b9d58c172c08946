import { NotStoredError } from './group-commit.js';
import type { Outcome, Post } from './posts.js';

type Accept = (post: Post) => Promise<Outcome>;

/** 512 of the largest posts, or many thousands of usual ones. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Nothing is known of a post yet, and it costs memory until it has been verified:
 * however many connections are full of forged ones, they must not fill that.
 */
export function createAdmit(accept: Accept): Accept {
  let bytes = 0;

  return async post => {
    const { length } = post.body;
    if (bytes + length > MAX_BYTES)
      throw new NotStoredError('too_many_waiting', 'too many posts are under way');
    bytes += length;
    try {
      return await accept(post);
    } finally {
      bytes -= length;
    }
  };
}
