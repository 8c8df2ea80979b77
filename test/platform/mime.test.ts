import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { openSigner } from '../../src/platform/dkim.ts'
import { prepareMessage } from '../../src/platform/mime.ts'
import { verifyDkim } from '../harness/dkim.ts'
import { readMail } from '../harness/mime.ts'
import { type Message, writeMessage } from '../harness/write-message.ts'

const message: Message = {
  from: { name: 'The shop', address: 'news@shop.example' },
  to: 'ann@example.com',
  replyTo: 'shop@shop.example',
  subject: 'New in May',
  messageId: '0198c0de@shop.example',
  date: new Date('2026-05-01T12:00:00Z'),
  text: 'Hello.\n',
  html: '<p>Hello.</p>',
  headers: {
    'List-Unsubscribe': `<https://platform.example/v1/unsubscribe/${'x'.repeat(300)}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  },
}

const read = (raw: string) => readMail({ from: '', to: ['ann@example.com'], raw })

describe('a message that is written by hand', () => {
  test('is read by a mail program as it was written', () => {
    const text = `Grüße, 5 €, 你好, 😀\n${'a long line '.repeat(200)}\n`
    const subject =
      'Grüße aus dem Laden – 你好 😀, mit einem Betreff, der länger ist als eine Zeile'
    const raw = writeMessage({ ...message, subject, text, html: `<p>${text}</p>` })
    const mail = read(raw)
    assert.deepEqual([mail.subject, mail.text, mail.html], [subject, text, `<p>${text}</p>`])
    assert.equal(mail.header('date'), 'Fri, 01 May 2026 12:00:00 +0000')
    assert.equal(mail.header('message-id'), '<0198c0de@shop.example>')
    assert.equal(mail.header('from'), '"The shop" <news@shop.example>')
  })

  test('has no line that is longer than SMTP allows, and no bare line break', () => {
    const raw = writeMessage({ ...message, text: 'x'.repeat(100_000), subject: 'ü'.repeat(200) })
    assert.ok(raw.split('\r\n').every((line) => line.length <= 998))
    assert.doesNotMatch(raw.replaceAll('\r\n', ''), /[\r\n]/)
    assert.match(raw, /^List-Unsubscribe: <https:\/\/\S{300,}>\r$/m)
  })

  test('quotes a name so that it stays a name', () => {
    for (const name of ['Ann "the cup" O\\Neil', 'Änne <x@y.example>', 'a, b; c', '=?x?=']) {
      const from = read(writeMessage({ ...message, from: { ...message.from, name } })).header(
        'from',
      )
      assert.match(
        from ?? '',
        /^(?:"(?:[^"\\]|\\.)*"|=\?UTF-8\?B\?[\w+/=]+\?=) <news@shop\.example>$/,
      )
    }
  })

  test('refuses whatever would begin another header', () => {
    const bad = [
      'a@b.example\r\nBcc: c@d.example',
      'a@b.example\r\n Bcc: c@d.example',
      'ü@b.example',
    ]
    for (const to of bad) assert.throws(() => writeMessage({ ...message, to }), /header To/)
    const subject = read(writeMessage({ ...message, subject: 'a\r\nBcc: c@d.example' }))
    assert.equal(subject.header('bcc'), null)
  })

  test("has the reader's link, wherever in a line it begins", () => {
    const { text: _text, html: _html, ...rest } = message
    const url = 'https://platform.example/?a=1&b=2'
    for (let length = 0; length <= 120; length++) {
      const first = 'ü'.repeat(length >> 1) + 'x'.repeat(length & 1)
      for (const last of ['', '\nü', 'y'.repeat(100)]) {
        const write = prepareMessage({ ...rest, text: [first, last], html: [first, last, last] })
        const raw = write({ ...rest, url })
        const mail = read(raw)
        const link = 'https://platform.example/?a=1&amp;b=2'
        assert.equal(mail.text, `${first}${url}${last}`)
        assert.equal(mail.html, `${first}${link}${last}${link}${last}`)
        assert.ok(raw.split('\r\n\r\n').slice(1).join('\r\n').split('\r\n').every(isShort), raw)
      }
    }
  })

  /** RFC 2045 bounds lines of encoded text. */
  const isShort = (line: string) => line.length <= 76

  test('is signed over its headers and its text', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2_048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    const key = { domainName: 'shop.example', keySelector: 'news', privateKey }
    const sign = openSigner(key)
    const subject = 'Grüße  aus dem Laden, mit einem Betreff, der länger ist als eine Zeile'
    const signed = await sign(writeMessage({ ...message, subject }))
    const signature = verifyDkim(signed, publicKey)
    assert.equal(signature?.isValid, true, signed)
    assert.ok(signed.split('\r\n').every((line) => line.length <= 998))
    assert.equal(read(signed).subject, subject)
    for (const name of ['from', 'to', 'subject', 'list-unsubscribe', 'list-unsubscribe-post']) {
      assert.ok(signature.covered.includes(name), name)
    }
    const changed = signed.replace('unsubscribe/x', 'unsubscribe/y')
    assert.equal(verifyDkim(changed, publicKey)?.isValid, false)
    for (const body of ['', '\r\n\r\n', 'a  b \t\r\n c\r\n\r\n\r\n', 'x', ' \r\n']) {
      const plain = await sign(`From: a@b.example\r\nSubject: \t a   b \r\n\r\n${body}`)
      assert.equal(verifyDkim(plain, publicKey)?.isValid, true, JSON.stringify(body))
    }
  })
})
