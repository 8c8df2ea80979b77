import type { House } from '../modules/house.ts'
import type { Handler } from '../platform/outbox.ts'
import { MODULES } from './modules.ts'

type Handlers = Readonly<Record<string, Handler>>

/** The handlers of internal events: every type that is published has one. */
export async function openHandlers(house: House): Promise<Handlers> {
  const heard = await Promise.all(MODULES.map((module) => module.hears?.(house) ?? {}))
  const types = new Set(heard.flatMap((each) => Object.keys(each)))
  return Object.fromEntries([...types].map((type) => [type, inTurn(heard, type)]))
}

/** Calls those who hear a type one after another, the lowest module first. */
function inTurn(heard: readonly Handlers[], type: string): Handler {
  const [first, ...others] = heard.flatMap(({ [type]: handler = [] }) => handler)
  if (first === undefined) throw new Error(`nobody hears ${type}`)
  return async (...event) => {
    await first(...event)
    for (const handler of others) await handler(...event)
  }
}
