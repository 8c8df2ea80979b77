import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestApp } from '../harness/app.ts'
import { openBrowser, openTab } from '../harness/browser.ts'

const ann = { email: 'ann@acme.example', password: 'correct horse', name: 'Ann' }
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true }

test('an owner goes by mails alone from a sign-up to a new password', async (t) => {
  const app = await openTestApp(t, { env: { IDENTITY_EMAIL_VERIFICATION: 'required' } })
  await app.anyone.post('/v1/identity/signup', ann)
  const tab = await openTab(t, await openBrowser(t), app.url, PHONE)
  const { page } = tab
  const openMail = async (subject: string) => {
    await page.goto('/')
    await tab.checkAccessibility()
    await page.getByRole('link', { name: 'What would have been sent' }).click()
    await tab.checkAccessibility()
    await page.getByRole('article').filter({ hasText: subject }).getByRole('link').first().click()
    await tab.checkAccessibility()
  }

  await openMail('Confirm your e-mail address')
  await page.getByLabel('E-mail address').fill(ann.email)
  await page.getByLabel('Password').fill(ann.password)
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('Your address is confirmed').waitFor()

  await page.goto('/account/password')
  await tab.checkAccessibility()
  await page.getByLabel('E-mail address').fill(ann.email)
  await page.getByRole('button', { name: 'Send the link' }).click()
  await page.getByText('a mail is on its way').waitFor()

  await openMail('Choose a new password')
  await page.getByLabel('New password').fill('another battery')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('Your password is changed').waitFor()
  const login = { email: ann.email, password: 'another battery' }
  const { status, body } = await app.anyone.post('/v1/identity/login', login)
  assert.deepEqual([status, body.owner.email_verified], [200, true])
})
