import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sign } from '../../../src/kernel/tokens.ts'
import { unsubscribeHeaders } from '../../../src/modules/marketing/consent.ts'
import { openUnsubscribe } from '../../../src/modules/marketing/open.ts'
import { assertConsentsAgree } from '../../harness/people-oracles.ts'
import { openReaders } from './readers.ts'

const MULTIPART = [
  '--4111111111111111',
  'Content-Disposition: form-data; name="List-Unsubscribe"',
  '',
  'One-Click',
  '--4111111111111111--',
  '',
].join('\r\n')

/** What mail programs send (RFC 8058, 3.2), and what a person who presses the button does. */
const FORMS: readonly (readonly [string, string, Record<string, string>, string])[] = [
  [
    'one_click',
    MULTIPART,
    { 'content-type': 'multipart/form-data; boundary=4111111111111111' },
    'a multipart form',
  ],
  [
    'one_click',
    'List-Unsubscribe=One-Click',
    { 'content-type': 'application/x-www-form-urlencoded' },
    'a form',
  ],
  [
    'one_click',
    'List-Unsubscribe=One-Click',
    { origin: 'https://mail.example', 'sec-fetch-site': 'cross-site' },
    'a web mailer',
  ],
  ['link', '', { 'content-type': 'application/x-www-form-urlencoded' }, 'the button of the page'],
]

test('a link to leave', async (t) => {
  const readers = await openReaders(t)
  const { app, superuser, join, leaveLink, historyOf, subscriber, press } = readers

  for (const [source, body, headers, what] of FORMS) {
    await t.test(`acts within the request on ${what}, with no cookie and no redirect`, async () => {
      const email = `${what.replaceAll(' ', '-')}@example.com`
      await join(email)
      const answer = await fetch(app.url + leaveLink(email), {
        method: 'POST',
        redirect: 'manual',
        headers,
        body: Buffer.from(body),
      })
      assert.equal(answer.status, 200)
      assert.deepEqual(
        [answer.headers.get('set-cookie'), answer.headers.get('location')],
        [null, null],
      )
      assert.equal((await subscriber(email)).status, 'unsubscribed')
      const [last] = await historyOf(email)
      assert.deepEqual([last.state, last.source, last.ip], ['withdrawn', source, '127.0.0.0/24'])
    })
  }

  await t.test('shows a page with a button, and does nothing, when it is opened', async () => {
    await join('ann@example.com')
    const url = app.url + leaveLink('ann@example.com')
    const page = await fetch(url)
    assert.equal(page.status, 200)
    assert.match(await page.text(), /<form method="post">.*<button>Unsubscribe<\/button>/)
    assert.equal((await fetch(url, { method: 'HEAD' })).status, 200)
    assert.equal((await subscriber('ann@example.com')).status, 'subscribed')
  })

  await t.test('records one decision, however often it is pressed at once', async () => {
    await join('often@example.com')
    const links = Array.from({ length: 8 }, () => leaveLink('often@example.com'))
    const answers = await Promise.all(links.map((link) => press(link)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.equal((await historyOf('often@example.com')).length, 2)
    await assertConsentsAgree(superuser)
  })

  await t.test('is good for an address that was never on the list', async () => {
    assert.equal((await press(leaveLink('never@example.com'))).status, 200)
    assert.equal((await subscriber('never@example.com')).status, 'unsubscribed')
    assert.equal((await historyOf('never@example.com'))[0].state, 'withdrawn')
  })

  await t.test('leaves the list of its own store alone', async () => {
    await app.merchant('other')
    await join('both@example.com')
    assert.equal((await press(leaveLink('both@example.com', 'other'))).status, 200)
    assert.equal((await subscriber('both@example.com')).status, 'subscribed')
  })

  await t.test('does not show whose it is, and is accepted in one spelling only', async () => {
    const link = leaveLink('ann@example.com')
    const bytes = Buffer.from(link.split('/').at(-1) ?? '', 'base64url').toString('latin1')
    assert.ok(!bytes.includes('ann@') && !bytes.includes('acme'))
    for (const wrong of [
      `${link}x`,
      `${link}=`,
      link.slice(0, -1),
      leaveLink('x@y.example', 'no-store'),
    ]) {
      assert.equal((await press(wrong)).status, 404, wrong)
      assert.equal((await fetch(app.url + wrong)).status, 404, wrong)
    }
    assert.equal((await subscriber('ann@example.com')).status, 'subscribed')
  })

  await t.test('an older kind of link that was mailed before still works', async () => {
    await join('old@example.com')
    const { id } = await subscriber('old@example.com')
    const payload = Buffer.from(JSON.stringify(['acme', id, 'unsubscribe', null]))
    const token = sign(app.runtime.key('newsletter'), payload)
    assert.equal((await fetch(`${app.url}/v1/unsubscribe/${token}`)).status, 200)
    assert.equal((await press(`/v1/unsubscribe/${token}`)).status, 200)
    assert.equal((await subscriber('old@example.com')).status, 'unsubscribed')
    await superuser.query('delete from marketing_consents; delete from newsletter_subscribers')
    assert.equal((await press(`/v1/unsubscribe/${token}`)).status, 404, 'of an erased reader')
    await join('ann@example.com')
  })

  await t.test('refuses a form that is too large, and still acts on the next one', async () => {
    const link = leaveLink('ann@example.com')
    const answer = await fetch(app.url + link, { method: 'POST', body: 'x'.repeat(10_000) })
    assert.equal(answer.status, 413)
    assert.equal((await press(link)).status, 200)
  })

  await t.test('comes with the two headers of RFC 8058', () => {
    const deps = openUnsubscribe({ ...app.runtime, publicUrl: () => 'https://shops.example' })
    const headers = unsubscribeHeaders(deps, { tenant: 'acme' }, 'Ann@Example.com')
    assert.deepEqual(Object.keys(headers), ['List-Unsubscribe', 'List-Unsubscribe-Post'])
    assert.match(
      headers['List-Unsubscribe'],
      /^<https:\/\/shops\.example\/v1\/unsubscribe\/[\w-]+>$/,
    )
    assert.equal(headers['List-Unsubscribe-Post'], 'List-Unsubscribe=One-Click')
  })
})
