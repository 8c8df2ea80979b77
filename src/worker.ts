import type { Logger } from 'pino'
import { refreshAll } from './modules/catalog/search.ts'
import * as domains from './modules/domains/jobs.ts'
import { createTxtLookup } from './modules/domains/lookup.ts'
import * as identity from './modules/identity/jobs.ts'
import * as media from './modules/media/jobs.ts'
import { createSpool } from './modules/media/spool.ts'
import { forgetOld } from './platform/idempotency-upkeep.ts'
import { forgetOldCounters } from './platform/limits-postgres.ts'
import { type Loop, startLoop } from './platform/loop.ts'
import { createTransport, sendDue } from './platform/mail.ts'
import { deliverDue, forgetHandled, type Handler } from './platform/outbox.ts'
import type { Runtime } from './runtime.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

/** Who acts on an internal event. A type that nobody handles is simply done. */
const handlers: Record<string, Handler> = {
  'store.language_changed.v1': (_event, db, signal) => refreshAll(db, signal),
}

/** Every background loop of the platform. Each takes its work by lease, so that many may run. */
export function startWorker(runtime: Runtime): Worker {
  const { workerDatabase: database, config, logger, blobs } = runtime
  const spool = createSpool(config.DATA_DIR)
  const findTxt = createTxtLookup(config.DNS_SERVERS)
  const transport = config.SMTP_URL ? createTransport(config.SMTP_URL, config.MAIL_FROM) : null
  const loop = (name: string, everyMs: number, step: (signal: AbortSignal) => Promise<number>) =>
    startLoop({ name, everyMs, step, logger })
  const loops = [
    loop('outbox', SECOND, (signal) => deliverDue(database, handlers, { slots: 20, signal })),
    loop('outbox upkeep', HOUR, () => forgetHandled(database)),
    loop('limiter upkeep', HOUR, () => forgetOldCounters(database.global)),
    loop('idempotency upkeep', HOUR, () => forgetOld(database)),
    loop('domains', 10 * SECOND, (signal) => domains.recheckDue(database, findTxt, signal)),
    loop('media', 60 * SECOND, (signal) => media.collectDue(database, blobs, signal)),
    loop('upload upkeep', HOUR, () => spool.sweep()),
    loop('session upkeep', HOUR, () => identity.forgetExpiredSessions(database.global)),
  ]
  if (transport !== null) {
    loops.push(loop('mail', 5 * SECOND, (signal) => sendDue(database, transport, signal)))
  }
  return stopTogether(loops, logger)
}

export interface Worker {
  /** Lets every running step finish, and gives back what it holds. */
  stop(): Promise<void>
}

function stopTogether(loops: Loop[], logger: Logger): Worker {
  return {
    async stop() {
      await Promise.all(loops.map((each) => each.stop()))
      logger.info('the worker has stopped')
    },
  }
}
