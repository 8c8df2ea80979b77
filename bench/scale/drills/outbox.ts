import { deliverDue } from '../../../test/harness/outbox.ts'
import { PAGES_FREE, PAGES_TIMES_MAX } from '../compare.ts'
import type { FilledApp } from '../filled-app.ts'
import { countPages } from '../pages.ts'
import { FRESH, NEIGHBOUR } from '../size.ts'
import { type Drill, percent } from './drill.ts'

/** Events of a drain: enough that the due rows of one store alone fill the sample of the queue. */
const EVENTS = 3_000
/** The backlog of one store, behind which an event of another waits. */
const BACKLOG = 100_000
/** How events are claimed: as the worker claims them. */
const TAKE = { slots: 20 }
/** A rate over so many stores is at least this share of that in one. */
const DRAIN_SHARE = 0.6
/** A backlog of one store delays the single event of another by less than this. */
const DELAY_MS = 2_000

/** Measures how fast due events are handled, in one store and spread over all, and how long one waits. */
export async function* drainOutbox(filled: FilledApp): AsyncGenerator<Drill> {
  const one = await drain(filled, due(ONE_STORE))
  const all = await drain(filled, due(ALL_STORES))
  yield {
    line:
      `outbox over all stores: ${all.perSecond.toFixed(0)} events/s, ` +
      `in one store ${one.perSecond.toFixed(0)}/s = ${percent(all.perSecond / one.perSecond)} ` +
      `(at least ${percent(DRAIN_SHARE)})`,
    holds: all.perSecond >= DRAIN_SHARE * one.perSecond,
  }
  const waitedMs = await waitBehindBacklog(filled)
  yield {
    line:
      `an event behind the ${BACKLOG} of another store waits ${waitedMs.toFixed(0)} ms ` +
      `(less than ${DELAY_MS})`,
    holds: waitedMs < DELAY_MS,
  }
}

/** Counts the pages of one step of the loop, with due events in all stores and in one. */
export async function measureClaims(filled: FilledApp): Promise<Drill> {
  const step = async (insert: string) => {
    await makeDue(filled, insert)
    const take = () => deliverDue(filled.runtime.workerDatabase, {}, TAKE)
    return (await countPages(filled.admin, take)).total
  }
  const one = await step(due(ONE_STORE))
  const all = await step(due(ALL_STORES))
  return {
    line: `a claim of ${TAKE.slots} events over all stores: ${all} pages, in one store ${one}`,
    holds: all <= PAGES_TIMES_MAX * one + PAGES_FREE,
  }
}

const ONE_STORE = `tenant_ref = '${NEIGHBOUR}'`
const ALL_STORES = 'true'

/** Events that are due, spread evenly over stores. */
const due = (stores: string, events = EVENTS) => `
  insert into outbox (tenant_ref, type, payload)
  select tenant_ref, 'scale.drained.v1', '{}'
    from (select tenant_ref, row_number() over () - 1 as place, count(*) over () as stores
            from stores where ${stores}) as s,
         generate_series(0, greatest(stores, ${events}) - 1) as n
   where n % stores = place`

async function makeDue({ admin }: FilledApp, insert: string): Promise<void> {
  await admin.query('truncate outbox')
  await admin.query(insert)
  await admin.query('analyze outbox')
}

async function drain(filled: FilledApp, insert: string) {
  await makeDue(filled, insert)
  const began = performance.now()
  let handled = 0
  for (let count = -1; count !== 0; handled += count) {
    count = await deliverDue(filled.runtime.workerDatabase, {}, TAKE)
  }
  return { perSecond: handled / ((performance.now() - began) / 1_000) }
}

/** Measures how long the single event of a store waits behind the older ones of another, in milliseconds. */
async function waitBehindBacklog(filled: FilledApp): Promise<number> {
  const { admin, runtime } = filled
  await makeDue(filled, due(ONE_STORE, BACKLOG))
  let waits = true
  const handlers = {
    'scale.waits.v1': async () => {
      waits = false
    },
  }
  // The queue already knows the backlog when the event comes.
  await deliverDue(runtime.workerDatabase, handlers, TAKE)
  await admin.query(
    `insert into outbox (tenant_ref, type, payload) values ($1, 'scale.waits.v1', '{}')`,
    [FRESH],
  )
  const began = performance.now()
  while (waits) await deliverDue(runtime.workerDatabase, handlers, TAKE)
  return performance.now() - began
}
