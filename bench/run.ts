import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalogReads } from './catalog.ts'
import { checkouts } from './checkout.ts'
import { claimScan } from './claims.ts'
import type { Figure } from './figure.ts'
import { inbound } from './inbound.ts'
import { keyCheck } from './key-check.ts'
import { liveReads } from './live-reads.ts'
import { publish } from './publish.ts'
import { searchProducts } from './search.ts'
import { idleMemory, startToReady } from './start.ts'
import { storefrontPages } from './storefront.ts'
import { uploads } from './uploads.ts'
import { webhooks } from './webhooks.ts'

const BENCHES: Record<string, (dataDir: string) => Promise<Figure | Figure[]>> = {
  'key-check': keyCheck,
  'live-reads': liveReads,
  publish,
  start: startToReady,
  memory: idleMemory,
  claims: claimScan,
  webhooks,
  catalog: catalogReads,
  search: searchProducts,
  uploads,
  storefront: storefrontPages,
  inbound,
  checkout: checkouts,
}

async function main(names: readonly string[]) {
  let held = true
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (names.length > 0 && !names.includes(name)) continue
    const dataDir = await mkdtemp(join(tmpdir(), 'bench-'))
    // Root starts the database as another user, who has to pass through.
    await chmod(dataDir, 0o711)
    try {
      for (const figure of [await bench(dataDir)].flat()) held = print(figure) && held
    } finally {
      await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
    }
  }
  process.exitCode = held ? 0 : 1
}

function print({ name, ours, floor, ratio, atLeast, holds }: Figure): boolean {
  const good = holds ?? (ratio ?? 0) >= (atLeast ?? 0)
  const share = ratio === undefined ? '' : ` = ${(ratio * 100).toFixed(0)} %`
  const bound = atLeast === undefined ? '' : ` (at least ${atLeast * 100} %)`
  process.stdout.write(`${good ? 'ok  ' : 'LOW '} ${name}: ${ours} of ${floor}${share}${bound}\n`)
  return good
}

if (import.meta.main) await main(process.argv.slice(2))
