import { type Lives, PLATFORM_LIVES } from '../platform/retention.ts'
import { joinNamed } from './join.ts'
import { MODULES } from './modules.ts'

/**
 * The life of every table. A test fails for a table without one, and `npm run retention` writes them into
 * docs/operating/running.md.
 */
export const LIVES: Lives = joinNamed([PLATFORM_LIVES, ...MODULES.map(({ tables }) => tables)])
