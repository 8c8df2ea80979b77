import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Bed, openBed } from './bed.ts'
import { compareAll, findPageFault, findTimeFault } from './compare.ts'
import { drillCheckouts } from './drills/checkouts.ts'
import type { Drill } from './drills/drill.ts'
import { drainOutbox, measureClaims } from './drills/outbox.ts'
import { compareRecounts } from './drills/stock.ts'
import { headline, lineOf } from './report.ts'
import { REDUCED, type Size } from './size.ts'

const USAGE = `usage: npm run scale -- [--stores <number>] [--orders <number>] [--products <number>]

  npm run scale                                                   reduced: ${REDUCED.stores} stores, ${REDUCED.orders} orders, ${REDUCED.products} products
  npm run scale -- --stores 10000 --orders 1000000 --products 100000     the size that the bar is for
`

class UsageError extends Error {}

export function readSize(args: readonly string[]): Size {
  const option = { type: 'string' } as const
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { stores: option, orders: option, products: option },
    })
    const numberOf = (name: keyof Size) => {
      const text = values[name] ?? String(REDUCED[name])
      if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`--${name} needs a number`)
      return Number(text)
    }
    return {
      stores: numberOf('stores'),
      orders: numberOf('orders'),
      products: numberOf('products'),
    }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

const print = (line: string) => void process.stdout.write(`${line}\n`)

/** What is no request, in the order of its cost. */
async function* listDrills(bed: Bed): AsyncGenerator<Drill> {
  yield await compareRecounts(bed)
  yield await measureClaims(bed)
  yield* drainOutbox(bed)
  yield* drillCheckouts(bed)
}

async function main(size: Size): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), 'scale-'))
  // Root starts the database as another user, who has to pass through.
  await chmod(dataDir, 0o711)
  try {
    const onStep = (name: string, seconds: number) =>
      print(`     ${seconds.toFixed(1).padStart(7)} s  ${name}`)
    const bed = await openBed({ dataDir, size, onStep })
    let held = true
    try {
      print(headline())
      for await (const each of compareAll(bed)) {
        print(lineOf(each))
        held = findPageFault(each) === null && findTimeFault(each) === null && held
      }
      for await (const { line, holds } of listDrills(bed)) {
        print(`${holds ? 'ok  ' : 'LOW '} ${line}`)
        held = holds && held
      }
    } finally {
      await bed.close()
    }
    return held
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
  }
}

if (import.meta.main) {
  try {
    process.exitCode = (await main(readSize(process.argv.slice(2)))) ? 0 : 1
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n\n${USAGE}`)
    process.exitCode = 2
  }
}
