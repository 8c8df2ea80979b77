import type { UnsubscribeDeps } from './modules/marketing/consent.ts'
import type { Runtime } from './runtime.ts'

/** Opens the deps to make links to leave: for the pages, and for the loops that send mail to readers. */
export const openUnsubscribe = (
  { config, key }: Pick<Runtime, 'config' | 'key'>,
  publicUrl = () => config.PUBLIC_URL ?? `http://localhost:${config.PORT}`,
): UnsubscribeDeps => ({ unsubscribeKey: key('unsubscribe link'), publicUrl })
