import { DUE_RANKS, type RankedWork } from '../modules/face.ts'
import type { House, Senders } from '../modules/house.ts'
import type { DueWork } from '../platform/due-work.ts'
import { dueEvents, type Handler } from '../platform/outbox.ts'
import { MODULES } from './modules.ts'

/** Every kind of work that becomes due by a store's clock, for the test clock: what comes first is done first. */
export async function listDueWork(
  house: House & Senders,
  handlers: Readonly<Record<string, Handler>>,
): Promise<readonly DueWork[]> {
  const ofModules = await Promise.all(MODULES.map((module) => module.due?.(house) ?? []))
  const interrupted: RankedWork = { rank: 'interrupted', work: [dueEvents(handlers)] }
  const all = [interrupted, ...ofModules.flat()]
  return DUE_RANKS.flatMap((rank) =>
    all.filter((each) => each.rank === rank).flatMap(({ work }) => work),
  )
}
