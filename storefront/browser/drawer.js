import {
  debounce,
  formBody,
  keepFocus,
  latest,
  parsePage,
  post,
  replaceParts,
} from './storefront.js'

// The cart beside a page: it opens when something is added, and is changed in place. The server
// renders all of it; without the script the cart page does the same.

const dialog = document.createElement('dialog')
dialog.className = 'drawer'
dialog.setAttribute('aria-labelledby', 'drawer-title')
const said = document.createElement('p')
said.className = 'hidden'
said.setAttribute('role', 'status')
document.body.append(dialog)

/** Shows an answer of the server in the drawer, and reads out what was done. */
async function showDrawer(response) {
  const page = await parsePage(response)
  const cart = page.querySelector('#drawer')
  if (!cart) throw new Error('the answer has no cart')
  replaceParts(page, '[data-cart]')
  keepFocus(() => dialog.replaceChildren(document.importNode(cart, true), said))
  if (!dialog.open) dialog.showModal()
  if (!dialog.contains(document.activeElement)) dialog.querySelector('[data-close]').focus()
  const texts = [...dialog.querySelectorAll('[data-said]')].map((each) => each.textContent)
  said.textContent = ''
  // Later than the drawer itself: a text that comes with it is not read out.
  setTimeout(() => {
    said.textContent = texts.join(' ')
  }, 100)
}

async function addToCart(form) {
  const button = form.querySelector('button:not([type="button"])')
  button.disabled = true
  try {
    const response = await post('/cart/add', formBody(form))
    button.disabled = false
    // The drawer returns the focus to the element that had it, and a disabled button cannot have it.
    button.focus()
    await showDrawer(response)
  } catch {
    form.submit()
  }
}

async function changeDrawer(form, submitter) {
  try {
    const response = await latest(() => post(form.action, formBody(form, submitter)))
    if (response !== null) await showDrawer(response)
  } catch {
    location.assign('/cart')
  }
}

const changeDrawerSoon = debounce(changeDrawer, 300)

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event
  // A button with an address of its own buys at once.
  const isAdd = form.matches('[data-add]') && !submitter?.matches('[formaction]')
  if (!isAdd && (!form.matches('[data-drawer]') || submitter?.name === 'checkout')) return
  event.preventDefault()
  if (isAdd) addToCart(form)
  else changeDrawer(form, submitter)
})

dialog.addEventListener('click', ({ target }) => {
  // A click outside of the drawer hits the dialog itself: its content fills it.
  if (target === dialog || target.closest('[data-close]')) return dialog.close()
  const button = target.closest('[data-step]')
  if (!button) return
  const field = button.parentElement.querySelector('input')
  const before = field.value
  if (button.dataset.step > 0) field.stepUp()
  else field.stepDown()
  if (field.value !== before) changeDrawerSoon(field.form)
})

dialog.addEventListener('change', ({ target }) => {
  if (target.form) changeDrawerSoon(target.form)
})
