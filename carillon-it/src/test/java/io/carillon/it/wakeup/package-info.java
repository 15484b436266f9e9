/**
 * Tests of the wake-up modes: how soon runs start, how many statements that costs, and what happens
 * when notifications fail.
 */
package io.carillon.it.wakeup;
