import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { moveClocks } from '../../../src/modules/test-clock/jobs.ts'
import type { DueWork } from '../../../src/platform/due-work.ts'
import { until } from '../../harness/eventually.ts'
import { suiteScope } from '../../harness/scope.ts'
import { cart, checkout, enable, issueGiftCard } from '../checkout/setup.ts'
import { CLOCK, type ClockApp, inDays, openClockApp, readRuns, shopperNamed } from './setup.ts'

const SIGNAL = new AbortController().signal
const CARDS = 'gift_card_expiry'

describe('a move of the clock that is interrupted', () => {
  const held = {} as { app: ClockApp }
  const scope = suiteScope()
  before(async () => {
    held.app = await openClockApp(scope)
  })

  /** A sandbox with gift cards that expire after each of these days. */
  async function plantCards(tenant: string, days: readonly number[]) {
    const { merchant } = await held.app.openSandbox(tenant)
    await enable(merchant, 'gift_cards')
    const expires = days.map((day) => inDays(day))
    const cards: string[] = []
    for (const expires_at of expires) {
      cards.push((await issueGiftCard(merchant, 100, { expires_at })).gift_card.id)
    }
    return { merchant, cards, expires }
  }

  /** The usual work, with gift cards that expire as `run` says. */
  const workWith = (run: (usual: DueWork['runDue']) => DueWork['runDue']): readonly DueWork[] =>
    held.app
      .mover()
      .work.map((each) => (each.kind === CARDS ? { ...each, runDue: run(each.runDue) } : each))

  const expireLease = (tenant: string) =>
    held.app.superuser.query(
      `update test_clocks set lease_until = now() - interval '1 second', next_attempt_at = now()
        where tenant_ref = $1`,
      [tenant],
    )

  /** Steps until `condition` holds. */
  async function step(deps: Parameters<typeof moveClocks>[0], condition: () => boolean) {
    await until('the step', async () => {
      await moveClocks(deps, SIGNAL)
      return condition()
    })
  }

  for (const stopsAfter of [0, 1, 2]) {
    test(`a move of the clock that is interrupted by a kill after ${stopsAfter} due times continues there, and does nothing twice`, async () => {
      const { app } = held
      const tenant = `killed-${stopsAfter}`
      const { merchant, cards, expires } = await plantCards(tenant, [3, 6, 9])
      await merchant.post(CLOCK, { advance: 'P10D' })
      let runs = 0
      let isHanging = false
      let bury = () => {}
      const hung = workWith((usual) => async (db, signal) => {
        if (runs++ < stopsAfter) return usual(db, signal)
        isHanging = true
        // As a process that is killed here: nothing more of it happens.
        return new Promise((_, reject) => {
          bury = () => reject(new Error('killed'))
        })
      })
      const dying = step(app.mover({ work: hung }), () => isHanging)
      await until('the kill', () => isHanging)
      const { body: midway } = await merchant.get(CLOCK)
      assert.equal(midway.state, 'advancing')
      assert.equal(
        midway.ran.filter((run: { kind: string }) => run.kind === CARDS).length,
        stopsAfter,
      )
      await expireLease(tenant)
      assert.equal(await app.finish(merchant), 'ready')
      const ran = (await readRuns(merchant)).filter(({ kind }) => kind === CARDS)
      assert.deepEqual(
        ran.map(({ id }) => id),
        cards,
        'each once, in their order',
      )
      for (const [i, { at }] of ran.entries()) {
        const late = Date.parse(at) - Date.parse(expires[i] ?? '')
        assert.ok(late >= 0 && late < 300_000, `${at} for ${expires[i]}`)
      }
      bury()
      await dying
    })
  }

  test('a move of the clock that is interrupted by a pause is taken over, and the overtaken process moves nothing any more', async () => {
    const { app } = held
    const { merchant, cards } = await plantCards('paused', [3, 6])
    await merchant.post(CLOCK, { advance: 'P10D' })
    let wake = () => {}
    let isPaused = false
    const sleepy = workWith((usual) => async (db, signal) => {
      if (!isPaused) {
        isPaused = true
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return usual(db, signal)
    })
    const overtaken = step(app.mover({ work: sleepy }), () => isPaused)
    await until('the pause', () => isPaused)
    await expireLease('paused')
    assert.equal(await app.finish(merchant), 'ready')
    const before = (await merchant.get(CLOCK)).body
    wake()
    await overtaken
    const { body } = await merchant.get(CLOCK)
    assert.deepEqual([body.state, body.ran], ['ready', before.ran])
    assert.ok(Date.parse(body.now) - Date.parse(before.now) < 300_000)
    const ids = body.ran.filter((run: { kind: string }) => run.kind === CARDS)
    assert.deepEqual(
      ids.map(({ id }: { id: string }) => id),
      cards,
    )
  })

  test('a move of the clock that is interrupted by failing work stops there, says so, and can continue', async () => {
    const { app } = held
    const { merchant, cards, expires } = await plantCards('faulty', [3])
    await merchant.post(CLOCK, { advance: 'P10D' })
    const faulty = app.mover({
      work: workWith(() => async () => {
        throw new Error('a fault of our own')
      }),
    })
    const retryNow = () =>
      app.superuser.query(
        `update test_clocks set next_attempt_at = now() where next_attempt_at is not null`,
      )
    await until('the end of the retries', async () => {
      await retryNow()
      await moveClocks(faulty, SIGNAL)
      return (await merchant.get(CLOCK)).body.state === 'failed'
    })
    const { body } = await merchant.get(CLOCK)
    const last = body.ran.at(-1)
    assert.deepEqual([last.kind, last.id, last.outcome], [CARDS, null, 'failed'])
    const stood = Date.parse(body.now) - Date.parse(expires[0] ?? '')
    assert.ok(stood >= 0 && stood < 300_000, 'the time stands where the work was due')
    assert.deepEqual(
      app.alerts.map((alert) => [alert.tenant, alert.kinds]),
      [['faulty', [CARDS]]],
    )
    const ran = await app.advance(merchant, { advance: 'P1D' })
    assert.deepEqual(
      ran.filter(({ kind }) => kind === CARDS).map(({ id }) => id),
      cards,
    )
  })

  test('a move of the clock that is interrupted by work that another process holds waits for that work', async () => {
    const { app } = held
    const { merchant } = await plantCards('leased', [3])
    await app.superuser.query(
      `insert into outbox (tenant_ref, type, payload, lease_until, lease_token)
       values ('leased', 'test.slow.v1', '{}', now() + interval '1 hour', gen_random_uuid())`,
    )
    await merchant.post(CLOCK, { advance: 'P10D' })
    await until('two looks at it', async () => {
      await moveClocks(app.mover(), SIGNAL)
      const { rows } = await app.superuser.query(
        `select waits from test_clocks where tenant_ref = 'leased'`,
      )
      return rows[0].waits >= 2
    })
    const { body } = await merchant.get(CLOCK)
    assert.equal(body.state, 'advancing')
    assert.ok(Date.parse(body.now) < Date.now() + 60_000, 'the clock has not moved')
    await app.superuser.query(
      `update outbox set lease_until = null, lease_token = null where tenant_ref = 'leased'`,
    )
    assert.equal(await app.finish(merchant), 'ready')
  })
})

test('a move continues without the mails beyond the limit of a minute', async (t) => {
  const app = await openClockApp(t, { env: { SHOPPER_MAILS_PER_MINUTE: '1' } })
  const shop = await app.openSandbox('quota')
  for (const _ of [1, 2, 3, 4, 5]) {
    const sold = await checkout(app, shop, cart(shop.variants[1_000], { email: shopperNamed('a') }))
    assert.equal(sold.status, 201, sold.text)
  }
  const ran = await app.advance(shop.merchant, { advance: 'P1D' })
  const sent = ran.filter(({ kind }) => kind === 'mail').length
  assert.ok(sent >= 1 && sent < 5, `sent ${sent}`)
  const { rows } = await app.superuser.query(
    `select count(*)::int as waiting from shopper_mails where state = 'queued'`,
  )
  assert.deepEqual(rows, [{ waiting: 5 - sent }], 'they are sent later, within the limit')
})
