import type { Tree } from './trees.ts'

/** One figure: what we measured, what bounds it, and whether it holds. */
export interface Figure {
  name: string
  ours: string
  floor: string
  ratio?: number
  atLeast?: number
  /** Whether the figure holds, where it is a bound and no ratio. */
  holds?: boolean
}

/** One number of a measurement, to be compared with the same number of another commit. */
export interface Sample {
  name: string
  value: number
  unit: string
}

/** A commit's part of a figure, ready to be measured as often as is needed. */
export interface Subject {
  measure(): Promise<Sample[]>
  close(): Promise<void>
}

export interface Bench {
  run(dataDir: string): Promise<Figure | Figure[]>
  /** Where the server of any commit can be measured by itself, a few seconds at a time. */
  open?(dataDir: string, tree: Tree): Promise<Subject>
  /** It sends its requests by `wrk`. */
  needsWrk?: boolean
}
