import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitOfAddress, mailboxOf } from '../../src/platform/address-mails.ts'

describe('a limit of mails', () => {
  test('counts the spellings of one mailbox together: any tag, and at Gmail any dots', () => {
    const bucketOf = (email: string) => limitOfAddress('newsletter', email).bucket
    const same = ['annlee@gmail.com', 'a.n.n.lee@gmail.com', 'ann.lee+a.b@googlemail.com']
    assert.equal(new Set(same.map(bucketOf)).size, 1)
    assert.equal(bucketOf('ann+shop@mail.example'), bucketOf('ann@mail.example'))
  })

  test('counts addresses apart that may be of two people', () => {
    for (const [one, other] of [
      ['ann.lee@mail.example', 'annlee@mail.example'],
      ['ann.lee@gmail.com.example', 'annlee@gmail.com.example'],
      ['ann.lee@notgmail.com', 'annlee@notgmail.com'],
    ] as const) {
      assert.notEqual(mailboxOf(one), mailboxOf(other))
    }
  })
})
