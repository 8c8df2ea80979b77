import { AsyncLocalStorage } from 'node:async_hooks'
import { ANONYMOUS, type Caller } from './store-shares.ts'

/**
 * The reader for whom the public work of a request is done. A public read opens its store deep inside of a module,
 * which knows nothing of HTTP; without this, all readers would be one caller of the database.
 */
const reader = new AsyncLocalStorage<Caller>()

/** Does work for a reader. */
export const forReader = <T>(name: string, work: () => T): T =>
  reader.run({ lane: 'public', name }, work)

/** The reader whose request is being answered. */
export const publicCaller = (): Caller => reader.getStore() ?? ANONYMOUS
