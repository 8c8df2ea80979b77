import type { Events } from '../modules/webhooks/define-event.ts'
import { joinNamed } from './join.ts'
import { MODULES } from './modules.ts'

/** Loads every kind of events of a store, by its type. */
export async function loadEvents(): Promise<Events> {
  const loaded = await Promise.all(MODULES.map((module) => module.events?.()))
  const named = loaded.map((of) => Object.fromEntries(of?.events.map((e) => [e.type, e]) ?? []))
  return new Map(Object.entries(joinNamed(named)))
}
