import { CARD_DRIVERS } from './card-drivers.js'

// Updates parts of a page in place, where a browser would load the whole page. Every page works
// without this script. It has no texts of its own: they come with the page, or with the answer to a
// form.

export const formBody = (form, submitter) => new URLSearchParams(new FormData(form, submitter))

/** Sends a form. The header tells the server that the script sent it. */
export function post(url, body) {
  const headers = { 'x-storefront-script': '1' }
  return fetch(url, { method: 'POST', body, headers }).then((response) => {
    if (!response.ok) throw new Error(`the store answered ${response.status}`)
    return response
  })
}

export const parsePage = async (response) =>
  new DOMParser().parseFromString(await response.text(), 'text/html')

/** Replaces parts of this page with the same parts of another. */
export function replaceParts(page, ...selectors) {
  for (const selector of selectors) {
    const [from, to] = [page.querySelector(selector), document.querySelector(selector)]
    if (from && to) to.replaceWith(document.importNode(from, true))
  }
}

/** Runs a change of the page, and puts the focus back on the field that had it. */
export function keepFocus(change) {
  const { id, name, value, type, selectionStart } = document.activeElement ?? {}
  change()
  if (!id && !name) return
  const named = `[name="${CSS.escape(name)}"]${type === 'radio' ? `[value="${CSS.escape(value)}"]` : ''}`
  const field = document.querySelector(id ? `#${CSS.escape(id)}` : `main ${named}`)
  field?.focus({ preventScroll: true })
  if (type === 'search') field?.setSelectionRange(selectionStart, selectionStart)
}

let lastRequest = 0

/** Null for the answer of a request that a later request has overtaken. */
export async function latest(send) {
  lastRequest += 1
  const request = lastRequest
  const response = await send()
  return request === lastRequest ? response : null
}

async function updateCart(form, submitter) {
  try {
    const response = await latest(() => post(form.action, formBody(form, submitter)))
    if (response === null) return
    const page = await parsePage(response)
    keepFocus(() => replaceParts(page, 'main', '[data-cart]'))
    enhancePage()
  } catch {
    form.submit()
  }
}

/** The parts of the checkout page that depend on its price. */
const REPRICED = [
  '#summary-total',
  '#summary-body',
  '#tenders',
  '#renewals',
  '[name="key"]',
  '[data-pay]',
  '#card-note',
]

/** Updates the totals of the checkout page. */
async function updateCheckout(form) {
  const button = form.querySelector('[data-pay]')
  try {
    const body = formBody(form)
    for (const name of [...body.keys()]) if (name.startsWith('card_')) body.delete(name)
    const response = await latest(() => post(`${form.action}/update`, body))
    if (response === null) return
    // Another tab has emptied the cart, or has an order whose payment is not confirmed.
    if (response.redirected) return location.assign(response.url)
    const page = await parsePage(response)
    keepFocus(() => replaceParts(page, ...REPRICED))
    // The card fields are not replaced: only this page knows what was typed into them.
    showCard(page)
    enhancePage()
  } catch {
    button.disabled = false
  }
}

/** The fields of a form that an address needs. */
const addressParts = (form) => [
  ...form.querySelectorAll('#shipping :is([required], [aria-required])'),
]

/** Updates the totals of the checkout page once the address is complete, if they depend on it. */
function priceAddress(form) {
  if (!form.querySelector('[name="key"][data-by-address]')) return
  if (addressParts(form).every(({ value }) => value.trim() !== '')) updateCheckoutSoon(form)
}

/** Shows the list that a form asks for, at the address that the form leads to. */
async function search(form) {
  const body = formBody(form)
  // In the form that the server writes: without empty values and defaults.
  for (const [name, value] of [...body]) {
    if (value === '' || (name === 'sort' && value === 'relevance')) body.delete(name)
  }
  const url = new URL(form.action)
  url.search = body
  const response = await latest(() => fetch(url))
  if (!response?.ok) return
  const page = await parsePage(response)
  const parts = form.matches('[data-facets]')
    ? ['#facets', '#filter-count', '#found']
    : ['#results']
  keepFocus(() => replaceParts(page, ...parts))
  // Replaced texts are not read out; changed ones are.
  const count = page.querySelector('#count')?.textContent ?? ''
  document.querySelector('#count').textContent = count
  history.replaceState(null, '', url)
}

/** Delays a function until it was not called for a while. */
export const debounce = (work, ms) => {
  let timer = 0
  return (...given) => {
    clearTimeout(timer)
    timer = setTimeout(() => work(...given), ms)
  }
}

const searchSoon = debounce(search, 250)
const updateCartSoon = debounce(updateCart, 350)
// A browser that fills in an address changes all its fields at once.
const updateCheckoutSoon = debounce(updateCheckout, 50)

/** Changes the fields of the address to those of the country. */
function applyCountry(country) {
  const data = document.querySelector('#address-data')
  const { rules, labels } = JSON.parse(data.textContent)
  const rule = rules[country] ?? rules['']
  const locality = document.querySelector('#locality')
  for (const name of rule.order) {
    const part = locality.querySelector(`[data-part="${name}"]`)
    // In the order of the country, also for the tab key.
    locality.append(part)
    changePart(part, rule[name], labels)
  }
}

/** `more` is an example for a text, or the choices of a list. */
function changePart(part, rule, labels) {
  const [label, required, more] = rule ?? [null, 0, null]
  const old = part.querySelector('input, select')
  const field = document.createElement(Array.isArray(more) ? 'select' : 'input')
  for (const name of ['id', 'name', 'autocomplete'])
    field.setAttribute(name, old.getAttribute(name))
  field.ariaRequired = required ? 'true' : null
  part.hidden = field.disabled = rule === null
  if (label !== null) part.querySelector('span').textContent = labels[label]
  if (typeof more === 'string') field.placeholder = more
  if (Array.isArray(more)) {
    field.append(new Option(''))
    for (const each of more) field.append(new Option(...[each].flat().reverse()))
  } else field.maxLength = 200
  field.value = old.value
  old.replaceWith(field)
  part.querySelector('.error')?.remove()
  dropNotice(field)
}

/** Keeps a payment from being sent twice by one form. */
function lockPayment(form) {
  if (form.dataset.sent) return false
  form.dataset.sent = '1'
  const button = form.querySelector('[data-pay]')
  button.disabled = true
  button.textContent = button.dataset.wait
  return true
}

function unlockPayment(form, label) {
  delete form.dataset.sent
  const button = form.querySelector('[data-pay]')
  button.disabled = false
  button.textContent = label
}

/** All parts of the checkout page except the card. */
const FORM_PARTS = ['#notices', '#contact', '#shipping', '#statement', '#card-notice']

/**
 * Pays, and shows the form again if something is wrong. Only this page knows the typed card, which is put back to be
 * corrected, unless the bank has declined it. A form whose answer is lost is sent again by the browser: its key makes
 * one order of both.
 */
async function pay(form) {
  const label = form.querySelector('[data-pay]').textContent
  if (!lockPayment(form)) return
  // A form without its final total asks for no card yet.
  const asksCard = !form.querySelector('[data-pay][data-awaits-address]')
  const token = asksCard && form.querySelector('#card:not([disabled]) [name="card_token"]')
  if (token) {
    token.value = await cardToken()
    if (!token.value) return unlockPayment(form, label)
  }
  const body = formBody(form)
  try {
    const response = await post(form.action, body)
    if (response.redirected) return location.assign(response.url)
    const page = await parsePage(response)
    delete form.dataset.sent
    replaceParts(page, ...FORM_PARTS, ...REPRICED, '#card-fields')
    showCard(page)
    if (!document.querySelector('#card-error')) {
      for (const field of document.querySelectorAll('#card-fields [name^="card_"]')) {
        field.value = body.get(field.name) ?? ''
      }
    }
    enhancePage()
    focusError()
  } catch {
    form.submit()
  }
}

/** Pays for an order. A card of the gateway's fields has its token first. */
async function payOrder(form) {
  const label = form.querySelector('[data-pay]').textContent
  if (!lockPayment(form)) return
  const token = form.querySelector('[name="card_token"]')
  if (token) {
    token.value = await cardToken()
    if (!token.value) return unlockPayment(form, label)
  }
  form.submit()
}

/** Shows the card fields if the loaded page shows them: not if nothing is left to pay by card. */
function showCard(page) {
  const [from, to] = [page.querySelector('#card'), document.querySelector('#card')]
  if (from && to) to.hidden = to.disabled = from.disabled
}

/** Gives the token of the card, or an empty text, to the payment that waits for it. */
let endToken = () => {}

/** Shows what is wrong with the card in the gateway's fields, whose own messages are not the store's. */
function showCardError(text) {
  const box = document.createElement('p')
  box.className = 'error error-box'
  box.id = 'card-error'
  box.tabIndex = -1
  box.setAttribute('role', 'alert')
  box.textContent = text
  document.querySelector('#card-notice').replaceChildren(box)
  box.focus()
}

/** How the page works with the script of the gateway. */
const cardDriver = () => CARD_DRIVERS[document.querySelector('#hosted-fields').dataset.driver]

/** The place of one of the gateway's fields, with its texts. */
const placeOf = (name) => {
  const { title, placeholder } = document.querySelector(`#field-${name}`).dataset
  return { selector: `#field-${name}`, title, placeholder }
}

/** Asks the gateway's fields for a token of the card that was typed into them. */
function cardToken() {
  const { check, failed } = document.querySelector('#hosted-fields').dataset
  return new Promise((resolve) => {
    endToken = (token, isLost) => {
      endToken = () => {}
      if (!token) showCardError(isLost ? failed : check)
      resolve(token)
    }
    const driver = cardDriver()
    if (driver.isLoaded()) driver.ask()
    else endToken('', true)
  })
}

/** Lets the gateway's script put its fields into their places, in the style of ours. */
function mountHostedFields() {
  const fields = document.querySelector('#hosted-fields')
  if (!fields || fields.dataset.mounted) return
  fields.dataset.mounted = '1'
  const driver = cardDriver()
  if (!driver.isLoaded()) return showCardError(fields.dataset.failed)
  const { color, fontSize } = getComputedStyle(document.querySelector('#field-email') ?? fields)
  driver.mount({ color, fontSize, placeOf, endToken: (...token) => endToken(...token) })
}

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event
  if (form.matches('[data-live]') && submitter?.name !== 'checkout') {
    event.preventDefault()
    updateCart(form, submitter)
  } else if (form.matches('[data-search], [data-facets]')) {
    event.preventDefault()
    if (form.popover && form.matches(':popover-open')) form.hidePopover()
    search(form)
  } else if (form.matches('[data-checkout]') && submitter?.matches('[data-reprice]')) {
    event.preventDefault()
    updateCheckout(form)
  } else if (form.matches('[data-checkout]')) {
    event.preventDefault()
    pay(form)
  } else if (form.matches('[data-payment]')) {
    event.preventDefault()
    payOrder(form)
  }
})

/** Removes the fault of a corrected field, and its line above the form. */
function clearFault(field) {
  if (field.ariaInvalid !== 'true' || !field.validity.valid) return
  field.ariaInvalid = null
  document.getElementById(field.getAttribute('aria-describedby'))?.remove()
  field.removeAttribute('aria-describedby')
  dropNotice(field)
}

/** Removes the fault of a field from the list above the form, and the whole list with its last line. */
function dropNotice({ id }) {
  const entry = document.querySelector(`#notices [href="#${id}"]`)?.closest('li')
  const list = entry?.parentElement
  entry?.remove()
  if (list?.childElementCount === 0) list.closest('.error-box').remove()
}

document.addEventListener('input', ({ target }) => {
  const form = target.form
  if (form?.matches('[data-search]')) searchSoon(form)
  if (form) clearFault(target)
})

document.addEventListener('change', ({ target }) => {
  const form = target.form
  if (form?.matches('[data-live]') && target.name.startsWith('q:')) updateCartSoon(form)
  if (form?.matches('[data-facets]')) search(form)
  if (target.matches('input[data-reprice]')) updateCheckout(form)
  if (target.name === 'country' && form?.querySelector('#locality')) applyCountry(target.value)
  if (target.closest('#shipping .fields')) priceAddress(form)
})

// A page from the back/forward cache may show a cart that has been paid for since.
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload()
})

/** Whether a click opens the link in this tab. */
const isPlainClick = ({ ctrlKey, metaKey, shiftKey }) => !(ctrlKey || metaKey || shiftKey)

const slidesOf = () => document.querySelector('[data-slides]')

/** Moves an image into view, and not the page: a shopper who chooses below it stays there. */
function showSlide(slide) {
  const row = slide?.parentElement
  const leftOf = (each) => each.getBoundingClientRect().left
  row?.scrollTo({ left: row.scrollLeft + leftOf(slide) - leftOf(row) })
}

/** Marks the link of the image that is in view. */
function watchSlides(slides) {
  const links = [...document.querySelectorAll('.thumbs a')]
  const watcher = new IntersectionObserver(
    (seen) => {
      const hash = `#${seen.findLast((each) => each.isIntersecting)?.target.id}`
      if (!links.some((link) => link.hash === hash)) return
      for (const link of links) link.ariaCurrent = link.hash === hash ? 'true' : null
    },
    { root: slides, threshold: 0.6 },
  )
  for (const slide of slides.children) watcher.observe(slide)
}

function createButton(text, work) {
  const button = document.createElement('button')
  button.textContent = text
  button.addEventListener('click', work)
  return button
}

/** Opens an image in full. The arrow keys show those beside it. */
function openZoom(links, at) {
  const { close, previous, next } = slidesOf().dataset
  const dialog = document.createElement('dialog')
  dialog.className = 'zoom'
  const large = document.createElement('img')
  const show = (place) => {
    at = (place + links.length) % links.length
    dialog.removeAttribute('data-zoomed')
    dialog.ariaLabel = links[at].ariaLabel
    large.src = links[at].href
    large.alt = links[at].firstElementChild.alt
  }
  const stepButton = (step, text, label) => {
    const button = createButton(text, () => show(at + step))
    button.dataset.step = step
    button.ariaLabel = label
    return button
  }
  // The first click zooms in on the place that was clicked, the second zooms out.
  large.addEventListener('click', (event) => {
    const [x, y] = [event.offsetX / large.clientWidth, event.offsetY / large.clientHeight]
    dialog.toggleAttribute('data-zoomed')
    dialog.scrollTo(
      x * large.clientWidth - innerWidth / 2,
      y * large.clientHeight - innerHeight / 2,
    )
  })
  dialog.addEventListener('keydown', ({ key }) => {
    const isForward = getComputedStyle(dialog).direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    if (key.startsWith('Arrow') && !dialog.matches('[data-zoomed]')) {
      show(at + (key === isForward || key === 'ArrowDown' ? 1 : -1))
    }
  })
  dialog.addEventListener('close', () => {
    dialog.remove()
    showSlide(links[at].closest('li'))
  })
  dialog.append(
    large,
    createButton(close, () => dialog.close()),
  )
  if (links.length > 1) dialog.append(stepButton(-1, '‹', previous), stepButton(1, '›', next))
  show(at)
  document.body.append(dialog)
  dialog.showModal()
}

/** Moves the focus to the first fault. */
const focusError = () => document.querySelector('[data-focus]')?.focus()

/** Shows another variant without loading the page: its price, its image, and the other parts that depend on it. */
async function chooseVariant(link) {
  const place = [...document.querySelectorAll('[data-choice]')].indexOf(link)
  const response = await latest(() => fetch(link.href))
  if (response === null) return
  if (!response.ok) return location.assign(link.href)
  const page = await parsePage(response)
  const before = document.querySelector('#buy').elements
  const [quantity, plan] = [before.quantity.value, before.plan?.value]
  replaceParts(page, '#price', '#buy')
  const form = document.querySelector('#buy')
  form.elements.quantity.value = quantity
  if (plan && form.elements.plan) form.elements.plan.value = plan
  form.querySelectorAll('[data-choice]')[place]?.focus()
  history.replaceState(null, '', link.href)
  const slides = [...(slidesOf()?.children ?? [])]
  showSlide(slides.find((slide) => slide.dataset.ref === form.dataset.image))
}

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a')
  if (!link || !isPlainClick(event)) return
  if (link.matches('[data-choice]')) {
    event.preventDefault()
    chooseVariant(link).catch(() => location.assign(link.href))
  } else if (link.matches('.thumbs a')) {
    event.preventDefault()
    showSlide(document.querySelector(link.hash))
  } else if (link.matches('.zoomable')) {
    event.preventDefault()
    const links = [...document.querySelectorAll('.zoomable')]
    openZoom(links, links.indexOf(link))
  }
})

/** Hides buttons that only a page without the script needs. */
function enhancePage() {
  for (const button of document.querySelectorAll('[data-update]')) {
    button.hidden = true
  }
  // Older browsers cannot open folded parts on a wide page by style alone.
  if (matchMedia('(min-width: 52.01rem)').matches) {
    for (const fold of document.querySelectorAll('.fold')) fold.open = true
  }
  // The store names all faults at once, in its own language.
  for (const form of document.querySelectorAll('[data-checkout]')) form.noValidate = true
}

/** Puts a video of another host in the place of its link. */
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[data-embed]')
  if (!link || !isPlainClick(event)) return
  event.preventDefault()
  const frame = document.createElement('iframe')
  frame.src = link.dataset.embed
  frame.title = link.dataset.title
  frame.allow = 'autoplay; fullscreen; picture-in-picture'
  // The host refuses to play if it is not told which page shows the video.
  frame.referrerPolicy = 'strict-origin-when-cross-origin'
  link.replaceWith(frame)
  frame.focus()
})

/** Shows how much time is left. For readers who want little motion, by the minute. */
function startCountdown(section) {
  const clock = section.querySelector('.clock')
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
  const parts = [...clock.children]
  if (isCalm) parts.pop().remove()
  const show = () => {
    let left = Math.floor((Date.parse(section.dataset.countdown) - Date.now()) / 1000)
    if (left < 0) return section.remove()
    for (const part of parts) {
      const unit = Number(part.dataset.seconds)
      part.firstElementChild.textContent = String(Math.floor(left / unit)).padStart(2, '0')
      left %= unit
    }
    setTimeout(show, isCalm ? 60_000 : 1000)
  }
  show()
  clock.hidden = false
}

const SEEN_MAX = 8

/** Asks whether this browser may remember products; the answer itself is kept either way. */
function askConsent(section, question) {
  const answer = localStorage.getItem('consent')
  if (answer === 'no') return
  if (answer === 'yes') return showSeen(section)
  for (const button of question.querySelectorAll('button')) {
    button.addEventListener('click', () => {
      localStorage.setItem('consent', button.value)
      question.remove()
      section.hidden = true
      if (button.value === 'yes') showSeen(section).catch(() => {})
    })
  }
  localStorage.removeItem('seen')
  question.hidden = false
  section.hidden = false
}

/** Shows the products that this browser has seen before, and remembers this one. */
async function showSeen(section) {
  // A browser may refuse to store anything.
  const kept = JSON.parse(localStorage.getItem('seen') ?? '[]')
  const here = section.dataset.seen
  const others = kept.filter((slug) => slug !== here).slice(0, SEEN_MAX)
  localStorage.setItem('seen', JSON.stringify([here, ...others]))
  if (others.length === 0) return
  const response = await fetch(`/recently-seen?${new URLSearchParams({ slugs: others })}`)
  const cards = (await parsePage(response)).querySelector('.grid')
  if (!response.ok || !cards) return
  section.append(document.importNode(cards, true))
  section.hidden = false
}

const REFRESH_MS = 4000

for (const section of document.querySelectorAll('[data-countdown]')) startCountdown(section)

document.documentElement.dataset.script = ''
if (slidesOf()) watchSlides(slidesOf())
// A link that opens a dialog is a button.
for (const link of document.querySelectorAll('.zoomable')) link.role = 'button'
for (const section of document.querySelectorAll('[data-seen]')) {
  const question = section.querySelector('.consent')
  const show = async () => (question ? askConsent(section, question) : showSeen(section))
  show().catch(() => {})
}
enhancePage()
mountHostedFields()
focusError()
if (document.querySelector('[data-refresh]')) setTimeout(() => location.reload(), REFRESH_MS)
