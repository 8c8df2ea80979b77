import { HOUR_MS, SECOND_MS } from '../kernel/time.ts'
import { type LoopFace, loop } from '../modules/face.ts'
import type { House, WorkingHouse } from '../modules/house.ts'
import { createBulkTransport } from '../platform/bulk-smtp.ts'
import { deleteOldAnswers, freeAbandonedKeys } from '../platform/idempotency-upkeep.ts'
import { startLoop } from '../platform/loop.ts'
import { createTransport, sendDue } from '../platform/mail.ts'
import { createOutboxWorker, deleteHandled, type Handler } from '../platform/outbox.ts'
import { dropOldMonths, makePartitions } from '../platform/partitions.ts'
import { createWordPruning, pruneOldRows } from '../platform/prune.ts'
import { deleteOldCounters } from '../platform/rate-limits-postgres.ts'
import { MONTHS_LOOP, SLICES_LOOP } from '../platform/retention.ts'
import { planForBigStores } from '../platform/store-plans.ts'
import { listDueWork } from './due-work.ts'
import { openHandlers } from './handlers.ts'
import { LIVES } from './lives.ts'
import { MODULES } from './modules.ts'

export interface Worker {
  /** How many loops the worker runs. */
  loops: number
  /** Waits for every running step, and releases its leases. */
  stop(): Promise<void>
}

/** Starts every background loop. Each claims its work by lease, so that many workers may run. */
export async function startWorker(house: House): Promise<Worker> {
  const { config, logger, notifier, metrics } = house
  const started = (await listLoops(house)).map(({ name, everyMs, wakeOn = [], open }) => {
    const { step, drain } = open(() => running.wake())
    const running = startLoop({ name, everyMs, step, logger, onStep: metrics?.countStep })
    for (const topic of wakeOn) notifier.subscribe(topic, running.wake)
    return { running, drain }
  })
  if (config.production && config.SMTP_URL === undefined) {
    logger.warn('SMTP_URL is not set: mails wait in their table and are not sent')
  }
  notifier.listen()
  return {
    loops: started.length,
    async stop() {
      await Promise.all(started.map(({ running }) => running.stop()))
      await Promise.all(started.map(({ drain }) => drain?.()))
      logger.info('the worker has stopped')
    },
  }
}

/** Every loop: those of the platform itself, and those of the modules from the ground up. */
export async function listLoops(house: House): Promise<readonly LoopFace[]> {
  const { SMTP_URL, MAIL_FROM, dkim } = house.config
  const senders = {
    transport: createTransport(SMTP_URL, MAIL_FROM, { dkim }),
    bulk: SMTP_URL ? createBulkTransport(SMTP_URL) : null,
  }
  const handlers = await openHandlers(house)
  const working: WorkingHouse = {
    ...house,
    ...senders,
    listDueWork: () => listDueWork({ ...house, ...senders }, handlers),
  }
  const ofModules = await Promise.all(MODULES.map((module) => module.loops?.(working) ?? []))
  return [...platformLoops(working, handlers), ...ofModules.flat()]
}

function platformLoops(
  { workerDatabase: database, transport, config, logger, blobs }: WorkingHouse,
  handlers: Readonly<Record<string, Handler>>,
): LoopFace[] {
  const archive = config.RETENTION_ARCHIVE === 'on' ? blobs : null
  const deps = { database, lives: LIVES, periods: config, archive, logger }
  return [
    {
      name: 'outbox',
      everyMs: SECOND_MS,
      open: (onFree) => createOutboxWorker({ database, handlers, onFree }),
    },
    loop('outbox upkeep', HOUR_MS, () => deleteHandled(database)),
    loop('limiter upkeep', HOUR_MS, () => deleteOldCounters(database.directory)),
    loop('idempotency upkeep', HOUR_MS, () => deleteOldAnswers(database)),
    loop('abandoned keys', HOUR_MS, () => freeAbandonedKeys(database)),
    loop('store plans', HOUR_MS, (signal) => planForBigStores(database, signal)),
    loop('partitions', HOUR_MS, (signal) => makePartitions(database, logger, signal)),
    loop(MONTHS_LOOP, HOUR_MS, (signal) => dropOldMonths(deps, signal)),
    loop(SLICES_LOOP, HOUR_MS, (signal) => pruneOldRows(deps, signal)),
    loop('search words', HOUR_MS, createWordPruning(database)),
    ...(transport === null
      ? []
      : [loop('mail', 5 * SECOND_MS, (signal) => sendDue(database, transport, signal))]),
  ]
}
