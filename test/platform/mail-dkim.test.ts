import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { unsubscribeHeaders } from '../../src/modules/marketing/consent.ts'
import { createTransport, type OutgoingMail } from '../../src/platform/mail.ts'
import { verifyDkim } from '../harness/dkim.ts'
import { startSmtp } from '../harness/smtp.ts'

const FROM = 'Fairdock <no-reply@mail.fairdock.example>'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

const dkim = { domainName: 'fairdock.example', keySelector: 'shops', privateKey }

/** As long as links get: a long name of a store, and a long address. */
const listHeaders = unsubscribeHeaders(
  { unsubscribeKey: Buffer.alloc(32, 7), publicUrl: () => 'https://shops.fairdock.example' },
  { tenant: 'a'.repeat(63) },
  `${'b'.repeat(64)}@${'c'.repeat(60)}.${'d'.repeat(60)}.example`,
)

const mail: OutgoingMail = {
  id: '0198c0de',
  recipient: 'ann@example.com',
  subject: 'Grüße aus dem Teeladen, mit einem Betreff, der länger ist als eine Zeile',
  body: 'Hello.  \n\nTwo  spaces, and\ttabs.\n\n\n',
  html: '<p>Hello.</p>',
  fromName: 'Ann’s tea',
  replyTo: 'tea@acme.example',
}

describe('a mail to a list', () => {
  test('has both headers on one line each, and a signature that covers them', async (t) => {
    const { url, received } = await startSmtp(t)
    await createTransport(url, FROM, { dkim })?.deliver({ ...mail, listHeaders })
    const raw = received[0]?.raw ?? ''
    const line = /^List-Unsubscribe: .*$/m.exec(raw)?.[0].trimEnd() ?? ''
    assert.equal(line, `List-Unsubscribe: ${listHeaders['List-Unsubscribe']}`)
    assert.ok(line.length > 300 && line.length <= 998, `${line.length} characters`)
    assert.match(raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
    const signature = verifyDkim(raw, publicKey)
    assert.ok(signature?.isValid, raw)
    assert.deepEqual([signature.domain, signature.selector], ['fairdock.example', 'shops'])
    for (const name of ['from', 'to', 'subject', 'list-unsubscribe', 'list-unsubscribe-post']) {
      assert.ok(signature.covered.includes(name), name)
    }
  })

  test('fails its signature check when either header or the text is changed on the way', async (t) => {
    const { url, received } = await startSmtp(t)
    await createTransport(url, FROM, { dkim })?.deliver({ ...mail, listHeaders })
    const raw = received[0]?.raw ?? ''
    for (const [from, to] of [
      ['shops.fairdock.example/v1', 'evil.example/v1'],
      ['=One-Click', '=Two-Clicks'],
      ['Hello.', 'Goodbye.'],
    ] as const) {
      assert.ok(raw.includes(from), from)
      assert.equal(verifyDkim(raw.replaceAll(from, to), publicKey)?.isValid, false, from)
    }
    const folded = raw.replace('List-Unsubscribe: <', 'List-Unsubscribe:\r\n <')
    assert.equal(verifyDkim(folded, publicKey)?.isValid, true, 'the verifier unfolds as it must')
  })

  test('is refused if a header could add another, or exceeds a line', async (t) => {
    const { url, received } = await startSmtp(t)
    const transport = createTransport(url, FROM, { dkim })
    for (const value of [
      '<https://x.example>\r\nBcc: eve@example.com',
      '<https://x.example>\n',
      '<https://x.example/ü>',
      `<https://x.example/${'x'.repeat(1_000)}>`,
      '',
    ]) {
      const sent = transport?.deliver({
        ...mail,
        listHeaders: { ...listHeaders, 'List-Unsubscribe': value },
      })
      await assert.rejects(async () => sent, { name: 'InvalidMailError' })
    }
    assert.equal(received.length, 0)
  })
})

test('a mail to one person is signed too, and has no list headers', async (t) => {
  const { url, received } = await startSmtp(t)
  await createTransport(url, FROM, { dkim })?.deliver(mail)
  const raw = received[0]?.raw ?? ''
  assert.equal(verifyDkim(raw, publicKey)?.isValid, true)
  assert.doesNotMatch(raw, /^List-/im)
})

test('without a key no mail is signed', async (t) => {
  const { url, received } = await startSmtp(t)
  await createTransport(url, FROM)?.deliver({ ...mail, listHeaders })
  assert.equal(verifyDkim(received[0]?.raw ?? '', publicKey), null)
})
