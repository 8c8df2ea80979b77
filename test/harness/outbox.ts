import type { Database } from '../../src/db/database.ts'
import { createOutboxWorker, type Handler } from '../../src/platform/outbox.ts'

interface DeliverOptions {
  slots: number
  leaseSeconds?: number
  signal?: AbortSignal
}

/** One step of the outbox, and the end of the events that it began. Answers how many these were. */
export async function deliverDue(
  database: Database,
  handlers: Readonly<Record<string, Handler>>,
  { signal = new AbortController().signal, ...options }: DeliverOptions,
): Promise<number> {
  const outbox = createOutboxWorker({ database, handlers, ...options })
  const begun = await outbox.step(signal)
  await outbox.drain()
  return begun
}
