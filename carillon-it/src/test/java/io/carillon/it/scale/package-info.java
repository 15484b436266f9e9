/**
 * Slow tests with very many rows, lanes or schedules, which measure cost in pages, statements or time.
 */
package io.carillon.it.scale;
