import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCustomerData } from '../../src/compose/customer-data.ts'
import { CUSTOMER_RANKS, ORDER_RANKS } from '../../src/modules/privacy/erase-order.ts'

test('every module that erases customers has one rank in the order of locks, and no other has', async () => {
  const all = [...(await loadCustomerData())]
  const namesOf = (verb: 'eraseCustomer' | 'eraseOrders') =>
    all.flatMap(([name, data]) => (data[verb] === undefined ? [] : [name])).sort()
  assert.deepEqual([...CUSTOMER_RANKS].sort(), namesOf('eraseCustomer'))
  assert.deepEqual([...ORDER_RANKS].sort(), namesOf('eraseOrders'))
})
