// Shows the token while its button is pressed in, and copies commands where the browser permits it.
'use strict';
const field = document.getElementById('token');
const show = document.getElementById('show');
show.hidden = false;
show.onclick = () => {
  const isShown = field.type === 'text';
  field.type = isShown ? 'password' : 'text';
  show.setAttribute('aria-pressed', String(!isShown));
};
for (const button of document.querySelectorAll('pre + button')) {
  // There is no clipboard without encryption, except on this machine.
  button.hidden = !navigator.clipboard;
  button.onclick = () => navigator.clipboard.writeText(button.previousElementSibling.textContent);
}
