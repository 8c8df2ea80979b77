import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Against, runAgainst } from './against.ts'
import { bulk } from './bulk.ts'
import { campaignMail } from './campaign-mail.ts'
import { catalogReads } from './catalog.ts'
import { checkouts, openCheckouts } from './checkout.ts'
import { claimScan } from './claims.ts'
import type { Bench, Figure } from './figure.ts'
import { inbound } from './inbound.ts'
import { keyCheck } from './key-check.ts'
import { liveReads } from './live-reads.ts'
import { publish } from './publish.ts'
import { renewals } from './renewals.ts'
import { rollups } from './rollups.ts'
import { scheduler } from './scheduler.ts'
import { searchProducts } from './search.ts'
import { segmentPreview } from './segments.ts'
import { idleMemory, startToReady } from './start.ts'
import { stock } from './stock.ts'
import { storefrontPages } from './storefront.ts'
import { uploads } from './uploads.ts'
import { webhooks } from './webhooks.ts'
import { requireWrk, WrkMissing } from './wrk.ts'

const BENCHES: Record<string, Bench> = {
  'key-check': { run: keyCheck, needsWrk: true },
  'live-reads': { run: liveReads, needsWrk: true },
  publish: { run: publish },
  start: { run: startToReady },
  memory: { run: idleMemory },
  claims: { run: claimScan },
  webhooks: { run: webhooks },
  catalog: { run: catalogReads, needsWrk: true },
  search: { run: searchProducts, needsWrk: true },
  uploads: { run: uploads },
  storefront: { run: storefrontPages, needsWrk: true },
  inbound: { run: inbound, needsWrk: true },
  checkout: { run: checkouts, open: openCheckouts },
  stock: { run: stock },
  bulk: { run: bulk },
  renewals: { run: renewals },
  scheduler: { run: scheduler },
  rollups: { run: rollups },
  segments: { run: segmentPreview },
  'campaign-mail': { run: campaignMail },
}

const ROUNDS = 5

const USAGE = `usage: npm run bench -- [figure...] [--against <commit> [--rounds <number>]]

  npm run bench                                  every figure, each as a ratio to a bare server
  npm run bench -- checkout start                some of them
  npm run bench -- checkout --against main       one figure of this tree and of a commit, in turn

Figures: ${Object.keys(BENCHES).join(', ')}.
A difference of a few per cent is seen only by --against, which measures both in ${ROUNDS} rounds.
`

interface Arguments {
  names: string[]
  against: Against | null
}

class UsageError extends Error {}

export function readArguments(args: readonly string[]): Arguments {
  const { values, positionals: names } = parse(args)
  const { against: commit, rounds = String(ROUNDS) } = values
  const unknown = names.find((name) => !Object.hasOwn(BENCHES, name))
  if (unknown !== undefined) throw new UsageError(`there is no figure ${unknown}`)
  if (!/^[1-9]\d*$/.test(rounds)) throw new UsageError('--rounds needs a number')
  if (commit === undefined) return { names, against: null }
  if (names.length === 0) throw new UsageError('--against needs a figure: all of them take hours')
  return { names, against: { commit, rounds: Number(rounds) } }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { against: { type: 'string' }, rounds: { type: 'string' } },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

async function main({ names, against }: Arguments): Promise<boolean> {
  const chosen = Object.entries(BENCHES).filter(
    ([name]) => names.length === 0 || names.includes(name),
  )
  // Checked first, before minutes are spent on earlier figures.
  if (chosen.some(([, { needsWrk }]) => needsWrk)) await requireWrk()
  let held = true
  for (const [name, bench] of chosen) {
    if (against !== null) await runAgainst(name, bench, against)
    else for (const figure of await runOnce(bench)) held = print(figure) && held
  }
  return held
}

async function runOnce(bench: Bench): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-'))
  // Root starts the database as another user, who must be able to pass through this folder.
  await chmod(dataDir, 0o711)
  try {
    return [await bench.run(dataDir)].flat()
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
  }
}

function print({ name, ours, floor, ratio, atLeast, holds }: Figure): boolean {
  const good = holds ?? (ratio ?? 0) >= (atLeast ?? 0)
  const share = ratio === undefined ? '' : ` = ${(ratio * 100).toFixed(0)} %`
  const bound = atLeast === undefined ? '' : ` (at least ${atLeast * 100} %)`
  process.stdout.write(`${good ? 'ok  ' : 'LOW '} ${name}: ${ours} of ${floor}${share}${bound}\n`)
  return good
}

if (import.meta.main) {
  try {
    process.exitCode = (await main(readArguments(process.argv.slice(2)))) ? 0 : 1
  } catch (error) {
    if (error instanceof UsageError) process.stderr.write(`${error.message}\n\n${USAGE}`)
    else if (error instanceof WrkMissing) process.stderr.write(error.message)
    else throw error
    process.exitCode = 2
  }
}
