import { type Comparison, findPageFault, findTimeFault } from './compare.ts'

const COLUMNS = ['pages', 'of 1/100', 'times', 'ms', 'of 1/100', 'times', 'rows'] as const
const WIDTH = 9
const NAME = 74

const cell = (text: string) => text.padStart(WIDTH)
const times = (full: number, hundredth: number | undefined) =>
  hundredth === undefined ? '-' : (full / Math.max(hundredth, 1)).toFixed(1)

export const headline = () =>
  `     ${'route and request'.padEnd(NAME)}${COLUMNS.map(cell).join('')}`

/** One line for one request: both stores, their ratio, and what breaks the bar. */
export function lineOf(comparison: Comparison): string {
  const { probe, full, hundredth } = comparison
  const faults = [findPageFault(comparison), findTimeFault(comparison)].filter(
    (each) => each !== null,
  )
  const cells = [
    String(full.pages),
    String(hundredth?.pages ?? '-'),
    times(full.pages, hundredth?.pages),
    full.ms.toFixed(1),
    hundredth?.ms.toFixed(1) ?? '-',
    times(full.ms, hundredth?.ms),
    String(full.rows ?? '-'),
  ]
  const name = `${probe.route} ${probe.name}`.padEnd(NAME)
  const verdict = faults.length === 0 ? 'ok  ' : 'HIGH'
  return `${verdict} ${name}${cells.map(cell).join('')}${faults.map((each) => `  ${each}`).join(';')}`
}
