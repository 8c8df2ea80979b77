/** One figure: what we measured, what bounds it, and whether it holds. */
export interface Figure {
  name: string
  ours: string
  floor: string
  ratio?: number
  atLeast?: number
  /** For figures that are bounds and no ratios. */
  holds?: boolean
}
