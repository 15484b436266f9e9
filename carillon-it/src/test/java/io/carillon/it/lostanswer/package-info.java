/**
 * For every writing statement, a test in which its answer is lost and the caller repeats it. Start at {@link
 * io.carillon.it.lostanswer.LostAnswerTest}; a new statement needs a case here.
 */
package io.carillon.it.lostanswer;
