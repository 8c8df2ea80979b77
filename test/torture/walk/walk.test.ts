import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { compareBooks } from '../../harness/books.ts'
import { startProcess } from '../../harness/process.ts'
import { openWitness } from '../../harness/witness.ts'
import { type Calls, openCalls } from './calls.ts'
import { compareAnswers } from './compare-answers.ts'
import { compareErasures } from './compare-erasures.ts'
import { compareGateway } from './compare-gateway.ts'
import { disturb } from './disturbances.ts'
import { keepEvidence } from './evidence.ts'
import { type Installation, openInstallation } from './installation.ts'
import { disputeChains, manage, openChains, readFeed, rememberEvents } from './merchants.ts'
import { randomOf } from './random.ts'
import { endDisturbances, replayAll, rest } from './rest.ts'
import { type Actor, shop } from './shoppers.ts'
import { openStore, type WalkStore } from './store.ts'

/** How long shoppers, merchants and disturbances act. `npm run torture` gives them more. */
const SECONDS = Number(process.env.WALK_SECONDS ?? 60)
/** Repeats the choices of an earlier walk. */
const SEED = process.env.WALK_SEED ?? randomBytes(4).toString('hex')

const STORES = ['acme', 'brew']
const SHOPPERS = 12
const MERCHANTS = 10
const DISTURBERS = 2
const FAULTS_SHOWN = 30
/** NMI settles once a day. Here it does so often that both voids and refunds occur. */
const SETTLE_MS = 4_000

test(`through kills, pauses, cuts, a faulty gateway and erasures no cent and no event is lost or doubled (seed ${SEED}, ${SECONDS} s)`, async (t) => {
  t.diagnostic(`WALK_SEED=${SEED} WALK_SECONDS=${SECONDS}`)
  const installation = await openInstallation(t, SEED)
  const { servers } = installation
  // The first one fills a new database.
  for (const each of servers) await each.start()
  await openWitness(installation.superuser)
  const stores: WalkStore[] = []
  for (const tenant of STORES) stores.push(await openStore(servers[0].url, tenant))
  const calls = openCalls(installation, randomOf(SEED, 'calls'))
  t.after(() => calls.close())
  const faults = await walk(t, { installation, stores, calls })
  await endDisturbances(installation)
  faults.push(...(await rest(installation)))
  const random = randomOf(SEED, 'banks')
  const banks = { calls, stores, random, isOver: () => false }
  for (const store of stores) await disputeChains(banks, store)
  faults.push(...(await replayAll(calls, false)))
  faults.push(...(await rest(installation)))
  faults.push(...(await replayAll(calls, true)))
  faults.push(...(await readWholeFeeds(installation, calls, stores)))
  const { superuser, nmi } = installation
  await tellChains(t, superuser)
  faults.push(
    ...calls.faults,
    ...(await compareBooks(superuser)),
    ...(await compareGateway(superuser, nmi.journal)),
    ...(await compareAnswers(superuser, calls, stores)),
    ...(await compareErasures(superuser, calls)),
    ...(await stopAll(t, installation)),
  )
  if (faults.length > 0) t.diagnostic(`evidence: ${await keepEvidence(installation, calls, SEED)}`)
  assert.equal(faults.length, 0, faults.slice(0, FAULTS_SHOWN).join('\n'))
})

interface Walk {
  installation: Installation
  stores: readonly WalkStore[]
  calls: Calls
}

/** Lets shoppers, merchants and disturbances act for the given time. */
async function walk(t: TestContext, { installation, stores, calls }: Walk): Promise<string[]> {
  const { gateway, nmi } = installation
  let ends = Number.POSITIVE_INFINITY
  const isOver = () => performance.now() >= ends
  const actorOf = (name: string): Actor => {
    return { calls, stores, isOver, random: randomOf(SEED, name) }
  }
  for (const store of stores) await openChains(actorOf(`opener of ${store.tenant}`), store)
  ends = performance.now() + SECONDS * 1_000
  const disturbances = new Map<string, number>()
  const settling = setInterval(() => nmi.settle(), SETTLE_MS)
  const faults: string[] = []
  const caught = (work: Promise<unknown>) =>
    work.catch((error: unknown) => void faults.push(String(error)))
  await Promise.all([
    ...times(SHOPPERS, (n) => caught(shop(actorOf(`shopper ${n}`)))),
    ...times(MERCHANTS, (n) => caught(manage(actorOf(`merchant ${n}`)))),
    ...stores.map((store) => caught(readFeed(actorOf('reader'), store))),
    ...times(DISTURBERS, (n) =>
      caught(
        disturb(
          { installation, isOver, seconds: SECONDS, random: randomOf(SEED, `disturber ${n}`) },
          disturbances,
        ),
      ),
    ),
    delay(SECONDS * 1_000),
  ])
  clearInterval(settling)
  for (const counts of [disturbances, gateway.counts, calls.counts]) {
    for (const [name, count] of [...counts].sort()) t.diagnostic(`${name}: ${count}`)
  }
  t.diagnostic(`${calls.all.size} keys, ${nmi.journal.length} transactions at the gateway`)
  assert.ok(gateway.counts.size > 1 && disturbances.size > 1, 'the faults must hit something')
  return faults
}

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n))

/** What the walk did with exchange chains: where one is never done, it proves nothing about it. */
const CHAINS: Readonly<Record<string, string>> = {
  'orders of exchanges': `select count(*) from return_exchanges`,
  'of these, of an exchange': `
    select count(*)
      from return_exchanges x
      join returns r on r.tenant_ref = x.tenant_ref and r.id = x.return_id
      join orders o on o.tenant_ref = r.tenant_ref and o.id = r.order_id
     where o.source = 'exchange'`,
  'disputes opened': `select count(*) from order_timeline where type = 'disputed'`,
  'disputes lost': `
    select count(*) from order_timeline
     where type = 'dispute_lost' and not data ? 'disputed_order_id'`,
  'later orders that lost money by them': `
    select count(*) from order_timeline
     where type = 'dispute_lost' and data ? 'disputed_order_id'`,
  'commissions of exchanges': `
    select count(*) from affiliate_attributions where source = 'exchange'`,
  'commissions declined': `select count(*) from affiliate_attributions where declined`,
  'times that credit expired': `
    select count(*) from store_credit_transactions where type = 'expire'`,
  'credit with a date that came back': `
    select coalesce(sum(returned_cents), 0) as count from store_credit_spent`,
}

async function tellChains(t: TestContext, superuser: Installation['superuser']): Promise<void> {
  for (const [what, query] of Object.entries(CHAINS)) {
    const { rows } = await superuser.query<{ count: string }>(query)
    t.diagnostic(`${what}: ${rows[0]?.count}`)
  }
}

/** Reads each feed to its end, and compares it with the events that were read during the walk. */
async function readWholeFeeds(
  { superuser }: Installation,
  calls: Calls,
  stores: readonly WalkStore[],
): Promise<string[]> {
  const faults: string[] = []
  for (const store of stores) {
    const seen = new Map(store.feed)
    store.feed.clear()
    for (;;) {
      const path = `/v1/merchant/events?after=${store.feed.size}&limit=200`
      const received = await calls.send({ method: 'GET', path, credential: store.merchant })
      if (received?.status === 200 && rememberEvents(store, received) === 0) break
    }
    for (const [sequence, id] of seen) {
      const now = store.feed.get(sequence)
      if (now !== id) faults.push(`number ${sequence} of ${store.tenant} was ${id} and is ${now}`)
    }
    const { rows } = await superuser.query<{ count: number }>(
      'select count(*)::int from webhook_events where tenant_ref = $1',
      [store.tenant],
    )
    if (rows[0]?.count !== store.feed.size) faults.push(`the feed of ${store.tenant} is not whole`)
  }
  return faults
}

/** Verifies the ledgers from their first journal, and stops the servers as a supervisor does. */
async function stopAll(t: TestContext, { servers, env, faults }: Installation): Promise<string[]> {
  const verifying = await startProcess(t, { role: 'verify-ledger', env })
  const verified = await verifying.exit
  const found = verified.code === 0 ? [] : [`verify-ledger: ${verifying.output()}`]
  for (const server of servers) {
    const { code } = await server.stop()
    if (code !== 0) found.push(`server ${server.name} stopped with ${code}`)
  }
  return [...found, ...faults]
}
