import { type Comparison, findPageFault, findTimeFault } from './compare.ts'

const COLUMNS = ['pages', 'of 1/100', 'times', 'ms', 'of 1/100', 'times', 'rows'] as const
const WIDTH = 9
const NAME = 74

const cell = (text: string) => text.padStart(WIDTH)
const times = (full: number, hundredth: number | undefined) =>
  hundredth === undefined ? '-' : (full / Math.max(hundredth, 1)).toFixed(1)

export const headline = () =>
  `     ${'route and request'.padEnd(NAME)}${COLUMNS.map(cell).join('')}`

/** A request on one line: both stores, their ratio, and what breaks the bar, with the statement to look at. */
export function lineOf(comparison: Comparison): string {
  const { probe, full, hundredth } = comparison
  const pageFault = findPageFault(comparison)
  const faults = [pageFault, findTimeFault(comparison)].filter((each) => each !== null)
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
  const line = `${verdict} ${name}${cells.map(cell).join('')}  ${faults.join('; ')}`.trimEnd()
  return pageFault === null ? line : `${line}\n     ${summarise(full.statement)}`
}

/** The beginning of the statement that read most. */
const summarise = (statement: string) => statement.replaceAll(/\s+/g, ' ').trim().slice(0, 160)
