import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { createTransport, type Mail, send, sendDue } from '../../src/platform/mail.ts'
import { openTestDatabase, type TestDatabase } from '../harness/database.ts'
import { decodeBody, decodeWords } from '../harness/mime.ts'
import { startBadSmtp, startSmtp } from '../harness/smtp.ts'

const FROM = 'Fairdock <no-reply@fairdock.example>'

const mail: Mail = { to: 'ann@example.com', subject: 'Welcome', text: 'Hello.\n' }

/** Registered first, and so run first: the database is dropped after the client is closed. */
async function open(t: TestContext) {
  const clients: pg.Client[] = []
  t.after(() => Promise.all(clients.map((client) => client.end())))
  const test = await openTestDatabase(t)
  const admin = new pg.Client({ connectionString: test.url })
  clients.push(admin)
  await admin.connect()
  const query = async (text: string) => (await admin.query(text)).rows
  return { app: test.open('fd_app'), worker: test.open('fd_worker'), test, query }
}

const transport = (url: string, deliverMs?: number) =>
  createTransport(url, FROM, deliverMs === undefined ? {} : { deliverMs })

const waits = `select attempt_count, sent_at is not null as sent, last_error, lease_token,
  extract(epoch from next_attempt_at - now())::float8 as wait from mails`

/** A busy machine may read it some seconds after it was written. */
function isNearly(wait: number | null | undefined, seconds: number) {
  const isLate = wait === null || wait === undefined || wait <= seconds - 30
  assert.ok(!isLate && wait <= seconds, `${wait} s, not ${seconds} s`)
}

describe('the outbox of mail', () => {
  test('sends the mails of committed transactions, and no others', async (t) => {
    const { app, worker, query } = await open(t)
    const { url, received } = await startSmtp(t)
    await app
      .tenant('acme')
      .transaction('signup', (tx) => send(tx, { ...mail, tenant_ref: 'acme' }))
    const undone = app.directory.transaction('undone', async (tx) => {
      await send(tx, mail)
      throw new Error('undone')
    })
    await assert.rejects(undone, /undone/)

    assert.equal(await sendDue(worker, transport(url)), 1)
    assert.equal(await sendDue(worker, transport(url)), 0)
    assert.equal(received.length, 1)
    assert.deepEqual(await query('select tenant_ref, recipient from mails'), [
      { tenant_ref: 'acme', recipient: 'ann@example.com' },
    ])
    assert.deepEqual(await query(waits), [
      { attempt_count: 1, sent: true, last_error: null, lease_token: null, wait: null },
    ])
  })

  test('keeps every mail for the operator while no mail server is configured', async (t) => {
    const { app, worker, query } = await open(t)
    await send(app.directory, mail)
    assert.equal(createTransport(undefined, FROM), null)
    assert.equal(await sendDue(worker, null), 0)
    const [row] = await query(waits)
    assert.equal(row.attempt_count, 0)
    assert.equal(row.sent, false)
  })

  test('carries UTF-8 in subject and text, as plain text alone', async (t) => {
    const { app, worker } = await open(t)
    const { url, received } = await startSmtp(t)
    const written = {
      to: 'ann@bücher.example',
      subject: 'Grüße 😀',
      text: 'Schöne Grüße 😀\n.\nFrom x',
    }
    await send(app.directory, written)
    await sendDue(worker, transport(url))
    const [letter] = received
    assert.ok(letter)
    assert.deepEqual(letter.to, ['ann@bücher.example'])
    assert.equal(letter.from, 'no-reply@fairdock.example')
    const [head = '', body = ''] = letter.raw.split(/\r\n\r\n/)
    assert.match(head, /^Content-Type: text\/plain; charset=utf-8/im)
    assert.doesNotMatch(head, /multipart/i)
    assert.match(head, /^Message-ID: <[0-9a-f-]{36}@fairdock\.example>/im)
    const [, encoded = ''] = /^Subject: ((?:.|\r\n )+)/im.exec(head) ?? []
    assert.equal(decodeWords(encoded), written.subject)
    const how = /^Content-Transfer-Encoding: (\S+)/im.exec(head)?.[1]
    assert.equal(decodeBody(body, how).trimEnd().replaceAll('\r\n', '\n'), written.text)
  })

  const injected: readonly (readonly [what: string, change: Partial<Mail>])[] = [
    ['a line break in the recipient', { to: 'ann@example.com\r\nBcc: eve@example.com' }],
    ['a bare newline in the recipient', { to: 'ann@example.com\n' }],
    ['two recipients', { to: 'ann@example.com,eve@example.com' }],
    ['a recipient with a name', { to: 'Ann <ann@example.com>' }],
    ['a quoted recipient', { to: '"ann@example.com eve"@example.com' }],
    ['a recipient without a domain', { to: 'ann' }],
    ['a recipient beyond 254 characters', { to: `a@${'b'.repeat(253)}` }],
    ['a line break in the subject', { subject: 'Hi\r\nBcc: eve@example.com' }],
    ['a carriage return in the subject', { subject: 'Hi\rBcc: eve@example.com' }],
    ['a null character in the subject', { subject: 'Hi\0' }],
    ['a line separator in the subject', { subject: 'Hi\u2028there' }],
    ['a subject beyond 200 characters', { subject: 'x'.repeat(201) }],
    ['a null character in the text', { text: 'a\0b' }],
    ['a text beyond 20,000 characters', { text: 'x'.repeat(20_001) }],
  ]
  test('refuses a mail that could add a header or a recipient, or break the row', async (t) => {
    const { app, query } = await open(t)
    for (const [what, change] of injected) {
      const sent = send(app.directory, { ...mail, ...change })
      await assert.rejects(sent, { name: 'InvalidMailError' }, what)
    }
    assert.deepEqual(await query('select id from mails'), [])
  })

  test("accepts a sender's name on one line alone, and replies only to a valid address", async (t) => {
    const { url, received } = await startSmtp(t)
    const outgoing = { id: 'x', recipient: 'ann@example.com', subject: 'Hi', body: 'Hello.' }
    const deliver = (more: object) => transport(url)?.deliver({ ...outgoing, ...more })
    for (const fromName of ['A\r\nBcc: eve@example.com', 'A\n', 'A\u2028', 'A\0']) {
      await assert.rejects(async () => deliver({ fromName }), { name: 'InvalidMailError' })
    }
    for (const replyTo of ['a@b.example\r\nBcc: eve@example.com', 'a@b.example, c@d.example', '']) {
      await deliver({ fromName: 'Ann, <x>', replyTo, html: '<p>Hello.</p>' })
    }
    assert.equal(received.length, 3)
    for (const { raw } of received) {
      assert.doesNotMatch(raw, /^(reply-to|bcc):/im)
      assert.match(raw, /^From: "Ann, <x>" <no-reply@fairdock\.example>\r$/m)
      assert.match(raw, /multipart\/alternative/)
    }
  })

  test('refuses such a mail also in a row that other code wrote', async (t) => {
    const { worker, query } = await open(t)
    const { url, received } = await startSmtp(t)
    await query(`insert into mails (recipient, subject, body)
                 values ('ann@example.com', E'Hi\\r\\nBcc: eve@example.com', 'x')`)
    assert.equal(await sendDue(worker, transport(url)), 1)
    const [row] = await query(waits)
    assert.match(row.last_error, /subject is not valid/)
    assert.equal(received.length, 0)
  })
})

describe('a mail server that fails', () => {
  test('is retried after 1 min, 5 min, 30 min and 2 h, and then no more', async (t) => {
    const { app, worker, query } = await open(t)
    const { url, received } = await startSmtp(t, {
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error('no such mailbox \u0007here'), { responseCode: 550 })),
    })
    await send(app.directory, mail)
    for (const [at, seconds] of [60, 300, 1_800, 7_200, null].entries()) {
      assert.equal(await sendDue(worker, transport(url)), 1)
      assert.equal(await sendDue(worker, transport(url)), 0, 'it waits')
      const [row] = await query(waits)
      assert.equal(row.attempt_count, at + 1)
      assert.match(row.last_error, /550/)
      if (seconds === null) assert.equal(row.wait, null)
      else isNearly(row.wait, seconds)
      await query('update mails set next_attempt_at = now() where next_attempt_at is not null')
    }
    assert.equal(await sendDue(worker, transport(url)), 0)
    assert.equal(received.length, 0)
  })

  const faults = [
    ['hangs up at once', (socket: Socket) => socket.destroy()],
    ['says nothing', () => {}],
    [
      'drips its greeting for ever',
      (socket: Socket) => {
        const drip = setInterval(() => socket.write('220-wait\r\n'), 20)
        socket.on('close', () => clearInterval(drip))
      },
    ],
  ] as const
  for (const [what, speak] of faults) {
    test(`costs one attempt within the deadline when it ${what}`, async (t) => {
      const { app, worker, query } = await open(t)
      const url = await startBadSmtp(t, speak)
      await send(app.directory, mail)
      const started = performance.now()
      assert.equal(await sendDue(worker, transport(url, 400)), 1)
      // Without a deadline it would never return.
      assert.ok(performance.now() - started < 60_000)
      const [row] = await query(waits)
      assert.equal(row.attempt_count, 1)
      isNearly(row.wait, 60)
      assert.ok(row.last_error.length > 0)
    })
  }

  test('costs one attempt when it cannot be reached', async (t) => {
    const { app, worker, query } = await open(t)
    await send(app.directory, mail)
    await sendDue(worker, transport('smtp://127.0.0.1:1'))
    const [row] = await query(waits)
    assert.match(row.last_error, /ECONNREFUSED/)
  })
})

describe('several workers', () => {
  test('send each mail once between them', async (t) => {
    const { app, test, query } = await open(t)
    const { url, received } = await startSmtp(t)
    await app.directory.transaction('many', async (tx) => {
      for (let i = 0; i < 40; i++) await send(tx, { ...mail, to: `reader${i}@example.com` })
    })
    await Promise.all(Array.from({ length: 4 }, () => drain(test, url)))
    const recipients = received.flatMap(({ to }) => to)
    assert.equal(recipients.length, 40)
    assert.equal(new Set(recipients).size, 40)
    const [count] = await query(
      'select count(*)::integer as sent from mails where sent_at is not null',
    )
    assert.equal(count.sent, 40)
  })

  test('take over mails from a worker that died, without counting an attempt', async (t) => {
    const { app, worker, query } = await open(t)
    const { url, received } = await startSmtp(t)
    await send(app.directory, mail)
    await query(`update mails set lease_until = now() + interval '30 s',
                                  lease_token = gen_random_uuid()`)
    assert.equal(await sendDue(worker, transport(url)), 0, 'the lease still holds')
    await query("update mails set lease_until = now() - interval '1 s'")
    assert.equal(await sendDue(worker, transport(url)), 1)
    assert.equal(received.length, 1)
    assert.equal((await query(waits))[0].attempt_count, 1)
  })

  test('cannot write the result of a lease they have lost', async (t) => {
    const { app, worker, query } = await open(t)
    await send(app.directory, mail)
    const slow = {
      async deliver() {
        await query('update mails set lease_token = gen_random_uuid()')
        throw new Error('too late')
      },
    }
    assert.equal(await sendDue(worker, slow), 1)
    const [row] = await query(waits)
    assert.equal(row.attempt_count, 0)
    assert.equal(row.last_error, null)
    assert.ok(row.lease_token)
  })

  test('claim no mail once they are told to stop', async (t) => {
    const { app, worker, query } = await open(t)
    const { url, received } = await startSmtp(t)
    await send(app.directory, mail)
    assert.equal(await sendDue(worker, transport(url), AbortSignal.abort()), 0)
    assert.equal(received.length, 0)
    assert.equal((await query(waits))[0].lease_token, null)
  })

  test('hold no database connection while a mail is being sent', async (t) => {
    const { app, worker } = await open(t)
    await send(app.directory, mail)
    let busy = -1
    await sendDue(worker, {
      async deliver() {
        busy = worker.load.busy
      },
    })
    assert.equal(busy, 0)
  })
})

async function drain(test: TestDatabase, url: string): Promise<void> {
  const worker = test.open('fd_worker', 3)
  while ((await sendDue(worker, transport(url))) > 0);
}
