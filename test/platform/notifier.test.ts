import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Database } from '../../src/db/database.ts'
import { Notifier } from '../../src/platform/notifier.ts'
import { openTestDatabase } from '../harness/database.ts'
import { until } from '../harness/eventually.ts'

test('the notification of new work', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  const open = () => {
    const notifier = new Notifier({
      url: database.roleUrl('fd_app'),
      logger: pino({ level: 'silent' }),
    })
    t.after(() => notifier.close())
    return notifier
  }
  const sender = open()
  const receiver = open()
  let own = 0
  let received = 0
  let others = 0
  sender.subscribe('work', () => own++)
  receiver.subscribe('work', () => received++)
  receiver.subscribe('other work', () => others++)
  receiver.listen()
  sender.listen()
  const backends = async (and = '') => {
    const { rows } = await admin.query(
      `select pid from pg_stat_activity
        where datname = current_database() and application_name like '%:wake' ${and}`,
    )
    return rows.map(({ pid }) => pid as number)
  }
  // A connected process does not listen yet.
  const listening = () => backends(`and query like 'listen %' and state = 'idle'`)
  await until('both listen', async () => (await listening()).length === 2)

  await t.test(
    'arrives at once in this process and soon in other processes, once for all work that came meanwhile',
    async () => {
      for (let n = 0; n < 100; n++) sender.notify('work')
      assert.equal(own, 100)
      await until('it arrives', () => received > 0)
      assert.ok(received <= 2, `received ${received} times`)
      assert.equal(own, 100, 'and not again by its own notification')
      assert.equal(others, 0)
    },
  )

  await t.test('arrives again after the connections were lost', async () => {
    for (const pid of await backends()) await admin.query('select pg_terminate_backend($1)', [pid])
    await until('both are back', async () => (await listening()).length === 2)
    const before = received
    await until('it arrives', () => {
      sender.notify('work')
      return received > before
    })
  })
})

test('a transaction that was rolled back notifies no loop', async (t) => {
  const database = await openTestDatabase(t)
  const notified: string[] = []
  const db = new Database({
    url: database.roleUrl('fd_app'),
    name: 'test',
    max: 1,
    notify: (topic) => notified.push(topic),
  })
  t.after(() => db.close())
  const failing = db.tenant('acme').transaction('test: fail', async (tx) => {
    tx.notifyAfterCommit('work')
    throw new Error('changed my mind')
  })
  await assert.rejects(failing)
  assert.deepEqual(notified, [])
  await db.tenant('acme').transaction('test: succeed', async (tx) => {
    tx.notifyAfterCommit('work')
    tx.notifyAfterCommit('work')
    assert.deepEqual(notified, [])
  })
  assert.deepEqual(notified, ['work'])
})
