import { createHash, randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drawings } from '../../src/modules/samples/images.ts'

/**
 * Draws each sample image once in a run of tests, for all of its processes: fifty of them take six seconds
 * of a processor. Only in a run, whose folder ends with it.
 */
export function keepDrawings(): void {
  if (process.env.TEST_SERVER === undefined) return
  drawings.keep = async (svg, draw) => {
    const path = join(tmpdir(), `drawing-${createHash('sha256').update(svg).digest('hex')}`)
    const known = await readFile(path).catch(() => null)
    if (known !== null) return known
    const bytes = await draw(svg)
    // Renamed, so that no other process reads a part of it.
    const aside = `${path}.${randomUUID()}`
    await writeFile(aside, bytes)
    await rename(aside, path)
    return bytes
  }
}
