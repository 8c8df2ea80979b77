/** One figure: what we measured, its bound, and whether it is met. */
export interface Figure {
  name: string
  ours: string
  floor: string
  ratio?: number
  atLeast?: number
  /** For figures that are absolute and not ratios. */
  holds?: boolean
}
