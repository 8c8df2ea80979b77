import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bounceOf } from '../../../src/modules/campaigns/bounce.ts'

test('a refusal means that an address does not exist by its status alone', () => {
  for (const [reply, kind] of [
    ['550 5.1.1 no such user', 'hard_bounce'],
    ['550-5.1.1 The account\n550 5.1.1 does not exist', 'hard_bounce'],
    ['553 5.1.3 bad syntax', 'hard_bounce'],
    ['556 5.1.10 takes no mail', 'hard_bounce'],
    ['550 5.1.8 your address', 'soft_bounce'],
    ['550 5.1.11 something else', 'soft_bounce'],
    ['450 4.1.1 unverified address', 'soft_bounce'],
    ['552 5.2.2 mailbox full', 'soft_bounce'],
    ['550 no such user', 'soft_bounce'],
    ['550 see 5.1.1 of our rules', 'soft_bounce'],
    ['550 5.7.1 blocked', null],
    ['450 4.7.1 too many mails', null],
  ] as const) {
    assert.equal(bounceOf(reply), kind, reply)
  }
})
