import type { Lives } from '../platform/retention.ts'

/**
 * What a module says of itself to the rest of the house, in its `module.ts`: data that loads nothing heavy. Lower
 * layers never read faces; `compose/` hands them what they need (decision 0075).
 */
export interface Face {
  /** The folder of the module. */
  readonly name: string
  /** What it is, in one line of ARCHITECTURE.md. */
  readonly is: string
  /** The modules that it enters. The import check refuses others, and names that no import needs. */
  readonly uses: readonly string[]
  /** Its tables, and how long the rows of each are kept. */
  readonly tables?: Lives
}

/** A floor of the house: modules about one matter, which enter their own floor and those below it. */
export interface Area {
  readonly name: string
  readonly is: string
  readonly modules: readonly Face[]
}
