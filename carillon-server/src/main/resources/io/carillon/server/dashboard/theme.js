// Sets the theme before the first paint, so that a dark page does not flash.
(() => {
  let theme = 'system';
  try {
    theme = localStorage.getItem('carillon-theme') || 'system';
  } catch {
    // Without storage the page follows the system.
  }
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
})();
