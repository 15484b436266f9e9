/**
 * The library, its meters and the test kit with the versions of the class path. These tests run here with the newest
 * versions; the projects in {@code carillon-it/boot} compile and run them with the versions of Spring Boot.
 */
package io.carillon.it.boot;
