/**
 * Tests of what users do with runs: list, explain, cancel, redrive, and bulk actions.
 */
package io.carillon.it.admin;
