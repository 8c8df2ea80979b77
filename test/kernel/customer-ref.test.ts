import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { CustomerRef } from '../../src/kernel/schema.ts'

test('a customer_ref has 1 to 200 characters of any script, and no control character', () => {
  const fits = ['a', 'cus_1', 'клиент 7', '顧客', '😀'.repeat(200), 'a@b.example', 'a/b?c#d', ' ']
  for (const ref of fits) assert.ok(Value.Check(CustomerRef, ref), ref)
  const breaks = ['', 'a\nb', '\u0000', 'a\u007f', '\u0085', 'x'.repeat(201), '😀'.repeat(201)]
  for (const ref of [...breaks, 7, null]) assert.ok(!Value.Check(CustomerRef, ref), String(ref))
})
