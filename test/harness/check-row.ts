import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { Value } from 'typebox/value'

/** After so many rows a shape is compiled. Most have fewer, and compiling takes as long as these. */
const ROWS_MIN = 20

interface Use {
  rows: number
  compiled: Validator | null
}

const uses = new WeakMap<TSchema, Use>()

/** Throws unless a row fits its shape. */
export function checkRow(shape: TSchema, row: unknown): void {
  const use = uses.get(shape) ?? { rows: 0, compiled: null }
  if (use.rows === 0) uses.set(shape, use)
  use.rows += 1
  if (use.rows === ROWS_MIN) use.compiled = Compile(shape)
  if (use.compiled?.Check(row)) return
  // Also for a row that does not fit: this error names the place.
  Value.Assert(shape, row)
}
