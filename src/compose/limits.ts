import type { LimitsFace } from '../modules/face-parts.ts'
import { joinNamed } from './join.ts'
import { MODULES } from './modules.ts'

/** What triggers count for each store, by the key of the limit, and what it means. */
export const COUNTED = joinNamed(MODULES.map(({ counted }) => counted))

/** Loads the limits that no trigger counts. */
export const loadLimits = (): Promise<LimitsFace[]> =>
  Promise.all(MODULES.flatMap(({ limits }) => (limits === undefined ? [] : [limits()])))
