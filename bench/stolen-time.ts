import { readFile } from 'node:fs/promises'

/** Processor time since the start of the machine, in ticks: all of it, and what its host gave to others. */
async function readTicks(): Promise<{ all: number; stolen: number }> {
  const stat = await readFile('/proc/stat', 'utf8').catch(() => '')
  // The line of all processors: user, nice, system, idle, iowait, irq, softirq, steal; guests are in them.
  const ticks = (stat.split('\n', 1)[0] ?? '').trim().split(/\s+/).slice(1, 9).map(Number)
  return { all: ticks.reduce((sum, each) => sum + each, 0), stolen: ticks[7] ?? 0 }
}

/**
 * Runs a measurement. Returns its result with the share of the processors that the host of this virtual
 * machine gave to others meanwhile: a figure with a large share says nothing about this program. The
 * share is 0 where the system does not tell it.
 */
export async function withStolen<T>(
  measure: () => Promise<T>,
): Promise<{ result: T; stolen: number }> {
  const before = await readTicks()
  const result = await measure()
  const after = await readTicks()
  const all = after.all - before.all
  return { result, stolen: all === 0 ? 0 : (after.stolen - before.stolen) / all }
}
