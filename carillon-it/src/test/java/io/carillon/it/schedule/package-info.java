/**
 * Tests of schedules: create, edit, pause, delete, trigger and backfill, and their missed and overlap policies.
 */
package io.carillon.it.schedule;
