// Everything works without this file. It saves a shopper from waiting for whole pages. It has no words of
// its own: what it says comes with the page, or with the answer.

const said = document.querySelector('#said')
let hush = 0

/** Says something for a while, and to those who listen instead of looking. */
function say(text, more = []) {
  if (!said) return
  const words = document.createElement('span')
  words.textContent = text
  said.replaceChildren(words, ...more)
  clearTimeout(hush)
  hush = setTimeout(() => said.replaceChildren(), 6000)
}

function link(href, text) {
  const made = document.createElement('a')
  made.href = href
  made.textContent = text
  return made
}

function showCount(count, label) {
  const badge = document.querySelector('.badge')
  if (!badge) return
  badge.textContent = String(count)
  badge.dataset.count = String(count)
  badge.parentElement.ariaLabel = label
}

const formOf = (form, submitter) => new URLSearchParams(new FormData(form, submitter))

/** Sends a form as the browser would, and says that it is us. */
function post(url, body) {
  return fetch(url, { method: 'POST', body, headers: { 'x-shop': '1' } }).then((answer) => {
    if (!answer.ok) throw new Error(`the store answered ${answer.status}`)
    return answer
  })
}

const pageOf = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html')

/** Takes parts of another page for those of this one. */
function take(page, ...selectors) {
  for (const selector of selectors) {
    const [from, to] = [page.querySelector(selector), document.querySelector(selector)]
    if (from && to) to.replaceWith(document.importNode(from, true))
  }
}

/** Puts the focus back where it was, in the part that was taken. */
function keepFocus(change) {
  const { name, value, selectionStart } = document.activeElement ?? {}
  const type = document.activeElement?.type
  change()
  if (!name) return
  const selector = `[name="${CSS.escape(name)}"]${type === 'radio' ? `[value="${CSS.escape(value)}"]` : ''}`
  const again = document.querySelector(`main ${selector}`)
  again?.focus({ preventScroll: true })
  if (type === 'search') again?.setSelectionRange(selectionStart, selectionStart)
}

async function add(form) {
  const button = form.querySelector('button')
  button.disabled = true
  try {
    const answer = await (await post('/cart/add', formOf(form))).json()
    showCount(answer.count, answer.label)
    say(answer.said, [link('/cart', answer.link)])
  } catch {
    form.submit()
  } finally {
    button.disabled = false
  }
}

let turn = 0

/** Of answers that overtake each other only the last one asked for counts. */
async function latest(asking) {
  turn += 1
  const mine = turn
  const answer = await asking()
  return mine === turn ? answer : null
}

async function refresh(form, submitter) {
  try {
    const answer = await latest(() => post(form.action, formOf(form, submitter)))
    if (answer === null) return
    const page = await pageOf(answer)
    keepFocus(() => take(page, 'main', '[data-cart]'))
    enhance()
  } catch {
    form.submit()
  }
}

async function reprice(form) {
  const button = form.querySelector('[data-pay]')
  try {
    const body = formOf(form)
    for (const name of [...body.keys()]) if (name.startsWith('card_')) body.delete(name)
    const answer = await latest(() => post('/checkout/update', body))
    if (answer === null) return
    // Another tab has emptied the cart, or is waiting for the bank.
    if (answer.redirected) return location.assign(answer.url)
    const page = await pageOf(answer)
    keepFocus(() => take(page, '#summary', '#tenders', '[name="key"]', '[data-pay]'))
    // Not taken anew, since what was typed of a card is nowhere but here.
    const [from, to] = [page.querySelector('#card'), document.querySelector('#card')]
    to.hidden = to.disabled = from.disabled
    enhance()
  } catch {
    button.disabled = false
  }
}

async function search(form) {
  const url = `/search?${formOf(form)}`
  const answer = await latest(() => fetch(url))
  if (!answer?.ok) return
  const page = await pageOf(answer)
  keepFocus(() => take(page, '#results'))
  history.replaceState(null, '', url)
  enhance()
}

const later = (work, ms) => {
  let timer = 0
  return (...given) => {
    clearTimeout(timer)
    timer = setTimeout(() => work(...given), ms)
  }
}

const searchSoon = later(search, 250)
const refreshSoon = later(refresh, 350)

document.addEventListener('submit', (event) => {
  const form = event.target
  if (form.matches('[data-add]')) {
    event.preventDefault()
    add(form)
  } else if (form.matches('[data-live]') && event.submitter?.name !== 'checkout') {
    event.preventDefault()
    refresh(form, event.submitter)
  } else if (form.matches('[data-search], [data-facets]')) {
    event.preventDefault()
    search(form)
  } else if (form.matches('[data-checkout]')) {
    if (event.submitter?.matches('[data-reprice]')) {
      event.preventDefault()
      reprice(form)
    } else if (form.dataset.sent) event.preventDefault()
    else {
      form.dataset.sent = '1'
      const button = form.querySelector('[data-pay]')
      button.disabled = true
      button.textContent = button.dataset.wait
    }
  }
})

document.addEventListener('input', ({ target }) => {
  const form = target.form
  if (form?.matches('[data-search]')) searchSoon(form)
  if (target.matches('[data-price]')) {
    const price = document.querySelector('p[data-price]')
    if (price) price.textContent = target.dataset.price
  }
})

document.addEventListener('change', ({ target }) => {
  const form = target.form
  if (form?.matches('[data-live]') && target.name.startsWith('q:')) refreshSoon(form)
  if (form?.matches('[data-facets]')) search(form)
  if (target.matches('input[data-reprice]')) reprice(form)
})

// A page that comes back from the browser's memory may be paid from again.
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload()
})

function zoom(image) {
  const dialog = document.createElement('dialog')
  dialog.className = 'zoom'
  dialog.setAttribute('aria-label', image.dataset.enlarge)
  const large = document.createElement('img')
  large.src = `${image.dataset.zoom}?w=1920`
  large.alt = image.alt
  const close = document.createElement('button')
  close.textContent = image.dataset.close
  dialog.append(large, close)
  // The first touch goes nearer, to the place that was touched; the next one goes back.
  large.addEventListener('click', (event) => {
    const [x, y] = [event.offsetX / large.clientWidth, event.offsetY / large.clientHeight]
    dialog.toggleAttribute('data-near')
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

function enhance() {
  for (const image of document.querySelectorAll('img[data-zoom]')) {
    if (image.parentElement.matches('.zoomable')) continue
    const button = document.createElement('button')
    button.className = 'zoomable'
    button.type = 'button'
    button.setAttribute('aria-label', image.dataset.enlarge)
    image.replaceWith(button)
    button.append(image)
    button.addEventListener('click', () => zoom(image))
  }
  for (const button of document.querySelectorAll('[data-update], [data-facets] button')) {
    button.hidden = true
  }
}

enhance()
document.querySelector('[data-focus]')?.focus()
if (document.querySelector('[data-refresh]')) setTimeout(() => location.reload(), 4000)
