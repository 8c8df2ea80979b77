// Updates parts of a page in place, where a browser would load the whole page. Every page works
// without this script. It has no texts of its own: they come with the page, or with the answer to a
// form.

const TOAST_MS = 6000

const toast = document.querySelector('#toast')
let toastTimer = 0

/** Shows a message for a while. Screen readers read it out. */
function showToast(text, more = []) {
  if (!toast) return
  const message = document.createElement('span')
  message.textContent = text
  toast.replaceChildren(message, ...more)
  clearTimeout(toastTimer)
  toastTimer = setTimeout(() => toast.replaceChildren(), TOAST_MS)
}

function createLink(href, text) {
  const link = document.createElement('a')
  link.href = href
  link.textContent = text
  return link
}

function showCartCount(count, label) {
  const badge = document.querySelector('.badge')
  if (!badge) return
  badge.textContent = String(count)
  badge.dataset.count = String(count)
  badge.parentElement.ariaLabel = label
}

const formBody = (form, submitter) => new URLSearchParams(new FormData(form, submitter))

/** Sends a form. The header tells the server that the script sent it. */
function post(url, body) {
  const headers = { 'x-storefront-script': '1' }
  return fetch(url, { method: 'POST', body, headers }).then((response) => {
    if (!response.ok) throw new Error(`the store answered ${response.status}`)
    return response
  })
}

const parsePage = async (response) =>
  new DOMParser().parseFromString(await response.text(), 'text/html')

/** Replaces parts of this page with the same parts of another. */
function replaceParts(page, ...selectors) {
  for (const selector of selectors) {
    const [from, to] = [page.querySelector(selector), document.querySelector(selector)]
    if (from && to) to.replaceWith(document.importNode(from, true))
  }
}

/** Runs a change of the page, and puts the focus back on the field that had it. */
function keepFocus(change) {
  const { name, value, selectionStart } = document.activeElement ?? {}
  const type = document.activeElement?.type
  change()
  if (!name) return
  const selector = `[name="${CSS.escape(name)}"]${type === 'radio' ? `[value="${CSS.escape(value)}"]` : ''}`
  const field = document.querySelector(`main ${selector}`)
  field?.focus({ preventScroll: true })
  if (type === 'search') field?.setSelectionRange(selectionStart, selectionStart)
}

let lastRequest = 0

/** Null for the answer of a request that a later one has overtaken. */
async function latest(send) {
  lastRequest += 1
  const request = lastRequest
  const response = await send()
  return request === lastRequest ? response : null
}

async function addToCart(form) {
  const button = form.querySelector('button')
  button.disabled = true
  try {
    const answer = await (await post('/cart/add', formBody(form))).json()
    showCartCount(answer.count, answer.label)
    showToast(answer.message, [createLink('/cart', answer.link)])
  } catch {
    form.submit()
  } finally {
    button.disabled = false
  }
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

async function search(form) {
  const url = `/search?${formBody(form)}`
  const response = await latest(() => fetch(url))
  if (!response?.ok) return
  const page = await parsePage(response)
  keepFocus(() => replaceParts(page, '#results'))
  history.replaceState(null, '', url)
  enhancePage()
}

/** Delays a function until it was not called for a while. */
const debounce = (work, ms) => {
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
  if (form.matches('[data-add]')) {
    event.preventDefault()
    addToCart(form)
  } else if (form.matches('[data-live]') && submitter?.name !== 'checkout') {
    event.preventDefault()
    updateCart(form, submitter)
  } else if (form.matches('[data-search], [data-facets]')) {
    event.preventDefault()
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

/** Whether a click opens the link in this tab. */
const isPlainClick = ({ ctrlKey, metaKey, shiftKey }) => !(ctrlKey || metaKey || shiftKey)

const slidesOf = () => document.querySelector('[data-slides]')

/** Moves an image into view, and not the page. */
const showSlide = (slide) => slide?.scrollIntoView({ block: 'nearest', inline: 'start' })

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

/** Shows another variant without loading the page: its price, its image, and what goes with it. */
async function chooseVariant(link) {
  const place = [...document.querySelectorAll('[data-choice]')].indexOf(link)
  const response = await latest(() => fetch(link.href))
  if (response === null) return
  if (!response.ok) return location.assign(link.href)
  const page = await parsePage(response)
  const quantity = document.querySelector('#buy [name="quantity"]').value
  replaceParts(page, '#price', '#buy')
  const form = document.querySelector('#buy')
  form.elements.quantity.value = quantity
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
  for (const button of document.querySelectorAll('[data-update], [data-facets] button')) {
    button.hidden = true
  }
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

const SEEN_MAX = 8

/** Shows the products that this browser has seen before, and remembers this one. */
async function showSeen(section) {
  // A browser may refuse to keep anything.
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

if (slidesOf()) watchSlides(slidesOf())
// A link that opens a dialog is a button.
for (const link of document.querySelectorAll('.zoomable')) link.role = 'button'
for (const section of document.querySelectorAll('[data-seen]')) showSeen(section).catch(() => {})
enhancePage()
document.querySelector('[data-focus]')?.focus()
if (document.querySelector('[data-refresh]')) setTimeout(() => location.reload(), REFRESH_MS)
