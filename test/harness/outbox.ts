import type { Database } from '../../src/db/database.ts'
import { createOutboxWorker, type Handler } from '../../src/platform/outbox.ts'

interface DeliverOptions {
  slots: number
  leaseSeconds?: number
  signal?: AbortSignal
}

/** Runs one step of the outbox, and waits until the events that it began have ended. Returns their number. */
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
