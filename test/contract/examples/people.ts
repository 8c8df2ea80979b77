import type { Caller } from '../../harness/app.ts'
import { KEYS, nmiEvent, signNmi } from '../../modules/provider-events/setup.ts'
import { ok } from '../../modules/returns/setup.ts'
import type { MailApp } from '../../modules/shopper-mail/setup.ts'
import type { Recorder } from './record.ts'

const ACCOUNT = { email: 'sam@stall.example', password: 'a password for tests' }

/** An owner signs up, takes the first key of a store, and changes the password. */
export async function signUp(app: MailApp, recorder: Recorder): Promise<void> {
  const anyone = recorder.recorded(app.anyone)
  const account = { ...ACCOUNT, name: 'Sam Stall' }
  const { session } = ok(await anyone.post('/v1/identity/signup', account), 201)
  const stall = { tenant_ref: 'stall', display_name: 'Market stall', owner_email: ACCOUNT.email }
  ok(await recorder.recorded(app.operator).post('/v1/stores', stall), 201)
  const owner = recorder.recorded(app.as({ authorization: `Bearer ${session.token}` }))
  ok(await owner.get('/v1/identity/me'))
  const first = { tenant_ref: 'stall', label: 'First key' }
  ok(await owner.post('/v1/my/credentials/initial', first), 201)
  const change = { current_password: ACCOUNT.password, new_password: 'another password' }
  ok(await owner.put('/v1/identity/password', change))
  const login = { email: ACCOUNT.email, password: change.new_password }
  ok(await anyone.post('/v1/identity/login', login))
  ok(await anyone.post('/v1/identity/password/forgot', { email: ACCOUNT.email }), 202)
  ok(await owner.post('/v1/identity/logout'))
}

/** A gateway tells of a payment, under an account that the operator has registered. */
export async function hearOfPayments(app: MailApp, recorder: Recorder): Promise<void> {
  const operator = recorder.recorded(app.operator)
  const url = '/v1/gateway/nmi/4711'
  const account = { tenant_ref: 'stall', scheme: 'nmi', signing_key: KEYS.nmi }
  ok(await operator.put(url, account))
  await tell(recorder.recorded(app.anyone), url)
  ok(await operator.get('/v1/gateway?limit=1'))
  ok(await operator.get(url))
  const { events } = ok(await operator.get('/v1/gateway/events?limit=1'))
  ok(await operator.get(`${url}/events/${events[0].event_id}`))
  ok(await operator.send('DELETE', url))
}

async function tell(provider: Caller, url: string): Promise<void> {
  const event = JSON.parse(nmiEvent({ id: 'event-1' }).toString())
  // The caller sends the body as JSON.stringify writes it: these bytes are signed.
  const headers = signNmi(KEYS.nmi, Buffer.from(JSON.stringify(event)))
  ok(await provider.post(url, event, headers))
}
