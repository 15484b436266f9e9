package io.carillon.it.architecture;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.JavaFileObject.Kind;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/** Compiles sources held as text, in this JVM, into a folder. */
final class Javac {

    private static final Pattern PACKAGE = Pattern.compile("(?m)^\\s*package\\s+([\\w.]+)\\s*;");
    private static final Pattern TYPE = Pattern.compile("\\b(?:class|interface|record|enum)\\s+(\\w+)");

    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    // Kept open for all samples, because opening all jars of the class path takes most of the time of
    // a small compilation.
    private static final StandardJavaFileManager FILES = files();

    private Javac() {}

    /** The result of a compilation: whether it succeeded, and the messages of javac. */
    record Result(boolean compiled, List<String> messages) {}

    static Result compile(Path into, List<String> flags, String... sources) throws IOException {
        var diagnostics = new DiagnosticCollector<JavaFileObject>();
        FILES.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(into));
        List<Source> units = Stream.of(sources).map(Source::of).toList();
        boolean compiled =
                COMPILER.getTask(null, FILES, diagnostics, flags, null, units).call();
        List<String> messages = diagnostics.getDiagnostics().stream()
                .map(each -> each.getKind() + ": " + each.getMessage(Locale.ROOT))
                .toList();
        return new Result(compiled, messages);
    }

    private static StandardJavaFileManager files() {
        StandardJavaFileManager files = COMPILER.getStandardFileManager(null, Locale.ROOT, null);
        List<Path> classPath = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .toList();
        try {
            files.setLocationFromPaths(StandardLocation.CLASS_PATH, classPath);
            files.setLocationFromPaths(StandardLocation.ANNOTATION_PROCESSOR_PATH, classPath);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot give javac the class path of this test", e);
        }
        return files;
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        private Source(String path, String text) {
            super(URI.create("sample:///" + path), Kind.SOURCE);
            this.text = text;
        }

        /** Derives the file name from the text: its package and its first type, or package-info if it has no type. */
        static Source of(String text) {
            Matcher packageLine = PACKAGE.matcher(text);
            if (!packageLine.find()) {
                throw new IllegalArgumentException("The sample has no package declaration: " + text);
            }
            Matcher type = TYPE.matcher(text);
            String name = type.find(packageLine.end()) ? type.group(1) : "package-info";
            return new Source(packageLine.group(1).replace('.', '/') + "/" + name + ".java", text);
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
