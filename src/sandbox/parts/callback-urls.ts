import type { Store } from '../store/store.js';

/** Where an app lets people be sent after an installation, the usual one first. */
export interface CallbackUrls {
  of(appId: string): readonly string[];
  replace(appId: string, urls: readonly string[]): void;
}

export function createCallbackUrls({ db }: Pick<Store, 'db'>): CallbackUrls {
  const find = db
    .prepare<[string], string>('select url from callback_urls where app_id = ? order by place')
    .pluck();
  const remove = db.prepare<[string]>('delete from callback_urls where app_id = ?');
  const insert = db.prepare<[string, number, string]>(
    'insert into callback_urls (app_id, place, url) values (?, ?, ?)',
  );
  return {
    of: appId => find.all(appId),
    replace: (appId, urls) => {
      remove.run(appId);
      urls.forEach((url, place) => void insert.run(appId, place, url));
    },
  };
}
