import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compareAll, findPageFault, findTimeFault } from './compare.ts'
import { compareSummaries } from './drills/analytics.ts'
import { drillCheckouts } from './drills/checkouts.ts'
import type { Drill } from './drills/drill.ts'
import { drainOutbox, measureClaims } from './drills/outbox.ts'
import { compareRecounts } from './drills/stock.ts'
import { type FilledApp, openFilledApp } from './filled-app.ts'
import { headline, lineOf } from './report.ts'
import { REDUCED, type Size } from './size.ts'

const USAGE = `usage: npm run scale -- [--stores <number>] [--orders <number>] [--products <number>]
                              [--only <part of a path>] [--keep <directory>]

  npm run scale                                                   reduced: ${REDUCED.stores} stores, ${REDUCED.orders} orders, ${REDUCED.products} products
  npm run scale -- --stores 10000 --orders 1000000 --products 100000     the size that the bar is for
  npm run scale -- --orders 300000 --only fulfillment                    some routes, without the drills
  npm run scale -- --keep /var/tmp/scale                                 keeps the database, or measures a kept one
`

class UsageError extends Error {}

export interface Arguments extends Size {
  /** Only routes whose path has this part, and no drills. */
  only: string | null
  /** Where the database is kept. A full one takes an hour to fill. */
  keep: string | null
}

export function readSize(args: readonly string[]): Arguments {
  const option = { type: 'string' } as const
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { stores: option, orders: option, products: option, only: option, keep: option },
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
      only: values.only ?? null,
      keep: values.keep ?? null,
    }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

const print = (line: string) => void process.stdout.write(`${line}\n`)

/** Runs the drills, which are no single requests, in the order of their cost. */
async function* listDrills(filled: FilledApp): AsyncGenerator<Drill> {
  yield await compareSummaries(filled)
  yield await compareRecounts(filled)
  yield await measureClaims(filled)
  yield* drainOutbox(filled)
  yield* drillCheckouts(filled)
}

async function main({ only, keep, ...size }: Arguments): Promise<boolean> {
  const dataDir = keep ?? (await mkdtemp(join(tmpdir(), 'scale-')))
  await mkdir(dataDir, { recursive: true })
  // Root starts the database as another user, who must be able to pass through this folder.
  await chmod(dataDir, 0o711)
  try {
    const onStep = (name: string, seconds: number) =>
      print(`     ${seconds.toFixed(1).padStart(7)} s  ${name}`)
    const filled = await openFilledApp({ dataDir, size, onStep })
    let held = true
    try {
      print(headline())
      const isWantedX = (route: string) => only === null || route.includes(only)
      for await (const each of compareAll(filled, {}, isWantedX)) {
        print(lineOf(each))
        held = findPageFault(each) === null && findTimeFault(each) === null && held
      }
      for await (const { line, holds } of only === null ? listDrills(filled) : []) {
        print(`${holds ? 'ok  ' : 'LOW '} ${line}`)
        held = holds && held
      }
    } finally {
      await filled.close()
    }
    return held
  } finally {
    if (keep === null) await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
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
