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

/** Null for the answer of a request that a later one has overtaken. */
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

/** Updates the totals of the checkout page. */
async function updateCheckout(form) {
  const button = form.querySelector('[data-pay]')
  try {
    const body = formBody(form)
    for (const name of [...body.keys()]) if (name.startsWith('card_')) body.delete(name)
    const response = await latest(() => post('/checkout/update', body))
    if (response === null) return
    // Another tab has emptied the cart, or has an order whose payment is not confirmed.
    if (response.redirected) return location.assign(response.url)
    const page = await parsePage(response)
    keepFocus(() => replaceParts(page, '#summary', '#tenders', '[name="key"]', '[data-pay]'))
    // The card fields are not replaced: only this page knows what was typed into them.
    const [from, to] = [page.querySelector('#card'), document.querySelector('#card')]
    to.hidden = to.disabled = from.disabled
    enhancePage()
  } catch {
    button.disabled = false
  }
}

/** Shows what a form of a list asks for, at the address that the form leads to. */
async function search(form) {
  const body = formBody(form)
  // As the server writes it: without what is empty or goes without saying.
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

/** Lets the browser send a payment once: a second click sends nothing. */
function submitCheckout(event, form) {
  if (form.dataset.sent) return event.preventDefault()
  form.dataset.sent = '1'
  const button = form.querySelector('[data-pay]')
  button.disabled = true
  button.textContent = button.dataset.wait
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
    submitCheckout(event, form)
  }
})

document.addEventListener('input', ({ target }) => {
  const form = target.form
  if (form?.matches('[data-search]')) searchSoon(form)
  if (target.matches('[data-price]')) {
    const price = document.querySelector('.price [data-price]')
    if (price) price.textContent = target.dataset.price
  }
})

document.addEventListener('change', ({ target }) => {
  const form = target.form
  if (form?.matches('[data-live]') && target.name.startsWith('q:')) updateCartSoon(form)
  if (form?.matches('[data-facets]')) search(form)
  if (target.matches('input[data-reprice]')) updateCheckout(form)
})

// A page from the back/forward cache may show a cart that was paid for since.
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload()
})

function openZoom(image) {
  const dialog = document.createElement('dialog')
  dialog.className = 'zoom'
  dialog.setAttribute('aria-label', image.dataset.enlarge)
  const large = document.createElement('img')
  large.src = `${image.dataset.zoom}?w=1920`
  large.alt = image.alt
  const close = document.createElement('button')
  close.textContent = image.dataset.close
  dialog.append(large, close)
  // The first click zooms in on the place that was clicked, the second zooms out.
  large.addEventListener('click', (event) => {
    const [x, y] = [event.offsetX / large.clientWidth, event.offsetY / large.clientHeight]
    dialog.toggleAttribute('data-zoomed')
    dialog.scrollTo(
      x * large.clientWidth - innerWidth / 2,
      y * large.clientHeight - innerHeight / 2,
    )
  })
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

/** Makes images open in full, and hides buttons that only a page without the script needs. */
function enhancePage() {
  for (const image of document.querySelectorAll('img[data-zoom]')) {
    if (image.parentElement.matches('.zoomable')) continue
    const button = document.createElement('button')
    button.className = 'zoomable'
    button.type = 'button'
    button.setAttribute('aria-label', image.dataset.enlarge)
    image.replaceWith(button)
    button.append(image)
    button.addEventListener('click', () => openZoom(image))
  }
  for (const button of document.querySelectorAll('[data-update]')) {
    button.hidden = true
  }
}

/** Puts a video of another host in the place of its link. */
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[data-embed]')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  const frame = document.createElement('iframe')
  frame.src = link.dataset.embed
  frame.title = link.dataset.title
  frame.allow = 'autoplay; fullscreen; picture-in-picture'
  // The host refuses to play for a page that it is told nothing of.
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

const REFRESH_MS = 4000

for (const section of document.querySelectorAll('[data-countdown]')) startCountdown(section)

document.documentElement.dataset.script = ''
enhancePage()
document.querySelector('[data-focus]')?.focus()
if (document.querySelector('[data-refresh]')) setTimeout(() => location.reload(), REFRESH_MS)
